/**
 * The contract between the chat routes and an inference backend: requests in, deltas out.
 * A backend knows nothing of HTTP statuses or sockets; it throws ApiErrors.
 */
import type { Readable } from 'node:stream'
import type { FieldSupport } from '../domain/chat/chat-rules.ts'
import type { ChatCompletionRequest } from '../schemas/chat/chat-request.ts'
import type {
  MessageCountRequest,
  MessageCreateRequest,
} from '../schemas/chat/messages/messages-request.ts'
import type { ResponseCreateRequest } from '../schemas/chat/responses/responses-request.ts'
import type {
  SpeechRequest,
  TranscriptionForm,
  TranslationForm,
} from '../schemas/chat/services/audio.ts'
import type { EmbeddingRequest } from '../schemas/chat/services/embeddings.ts'
import type {
  ImageEditForm,
  ImageRequest,
  ImageVariationForm,
} from '../schemas/chat/services/images.ts'
import type { ModerationRequest } from '../schemas/chat/services/moderations.ts'
import type { TextCompletionRequest } from '../schemas/chat/services/text-completion.ts'
import type { DetokenizeRequest, TokenizeRequest } from '../schemas/chat/services/tokens.ts'

/** The weights of a checkpoint, added to those of the base model. */
export interface Adapter {
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string
  readonly bytes: number
  /** The bytes. @throws ApiError checkpoint_not_found when the checkpoint was removed in the meantime */
  open(): Promise<Readable>
}

/** One completion request as a backend sees it. */
export interface CompletionCall {
  /** The validated request; `model` may still be an alias. */
  readonly request: ChatCompletionRequest
  /** The request's body as it was received, for backends that forward it. */
  readonly body: string
  /** The name under which the backend knows the model. */
  readonly model: string
  /** Id of the request, 1..128 characters, for logs and upstream headers. */
  readonly requestId: string
  /** Only for backends that take them. Default null. */
  readonly adapter?: Adapter | null
  /** Whether the model is served as one that calls tools. Default true. */
  readonly callsTools?: boolean
  /** Id of the caller's key, for backends that divide their capacity among keys. */
  readonly keyId?: string
}

/** Receives what a backend reports of the upstreams that it asks. */
export interface UpstreamObserver {
  /** Called with the number of the upstream, from 1, before each try. */
  onUpstream(number: number): void
  /** Called with the milliseconds that a try took to begin its answer or to fail. */
  onTried(ms: number): void
}

export interface CallOptions {
  readonly signal: AbortSignal
  /** Default: nobody observes. */
  readonly observer?: UpstreamObserver
}

/**
 * Kinds of requests that a model can answer, by their names in the models file. `tokenize` includes detokenize, and
 * `messages` counts of their tokens.
 */
export const CAPABILITIES = [
  'chat',
  'completions',
  'embeddings',
  'tokenize',
  'responses',
  'messages',
  'moderations',
  'images',
  'image_edits',
  'image_variations',
  'speech',
  'transcriptions',
  'translations',
] as const
export type Capability = (typeof CAPABILITIES)[number]

/** Services other than chats, each with the type of its request. */
interface ServiceRequests {
  readonly completions: TextCompletionRequest
  readonly embeddings: EmbeddingRequest
  readonly moderations: ModerationRequest
  readonly images: ImageRequest
  readonly image_edits: ImageEditForm
  readonly image_variations: ImageVariationForm
  readonly speech: SpeechRequest
  readonly transcriptions: TranscriptionForm
  readonly translations: TranslationForm
  readonly responses: ResponseCreateRequest
  readonly messages: MessageCreateRequest
  readonly message_tokens: MessageCountRequest
  readonly tokenize: TokenizeRequest
  readonly detokenize: DetokenizeRequest
}
export type Service = keyof ServiceRequests

/** A field or file of a form. Names are exactly as the client sent them and may be any text. */
export type FormPart =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string
      readonly filename: string
      /** As declared by the client; visible ASCII. */
      readonly contentType: string
      readonly bytes: Uint8Array
    }

/** One request of a service; the other fields as of a completion. */
export interface ServiceCallOf<S extends Service> extends Omit<CompletionCall, 'request'> {
  readonly service: S
  readonly request: ServiceRequests[S]
  /** The form, in place of `body`, for requests sent as forms. */
  readonly form?: readonly FormPart[]
  /** Headers of the client that the protocol has, to be forwarded. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Query of the client that the protocol has, without its `?`, to be forwarded. Default: none. */
  readonly query?: string
  /** Model name to put in answers that the backend builds itself. */
  readonly answersAs: string
}
export type ServiceCall = { readonly [S in Service]: ServiceCallOf<S> }[Service]

/** Log-probability of one token. `bytes` are the token's own bytes; floor is -9999. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[] | null
  readonly top_logprobs: ReadonlyArray<{
    readonly token: string
    readonly logprob: number
    readonly bytes: readonly number[] | null
  }>
}

/** Per prompt token, keyed by token id: the token itself and its most likely alternatives. Null for the first token. */
export type PromptLogprobs = ReadonlyArray<Readonly<
  Record<
    string,
    { readonly logprob: number; readonly rank: number; readonly decoded_token: string }
  >
> | null>

/** The first delta of a completion, sent once when the prompt has been processed. */
export interface PromptDelta {
  readonly type: 'prompt'
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Ids of the prompt's tokens, if requested. */
  readonly promptIds?: readonly number[]
  /** Log-probabilities of the prompt's tokens, if requested. */
  readonly promptLogprobs?: PromptLogprobs
}

/** An increment to one tool call of a choice. */
export interface ToolCallChunk {
  /** Index of the call within the choice, from 0. */
  readonly index: number
  /** Like `name`, set in the first piece of a call only. */
  readonly id?: string
  readonly name?: string
  /** Next piece of the arguments, JSON text. May be empty. */
  readonly arguments: string
}

/** A piece of one choice. The last piece of a choice carries `finish_reason`. */
export interface ChoiceDelta {
  readonly type: 'choice'
  /** 0..n-1. */
  readonly index: number
  /** Whole characters only: a split UTF-8 sequence is held back. May be empty. */
  readonly content: string
  /** Tokens of this piece; counted into usage. */
  readonly tokenCount: number
  readonly logprobs: readonly TokenLogprob[] | null
  /** `tool_calls`: the choice ended with complete tool calls. */
  readonly finish_reason: 'stop' | 'length' | 'tool_calls' | null
  /** The stop token's id or the stop string that ended the choice, or null. */
  readonly stop_reason: number | string | null
  /** Ids of the tokens of this piece, if requested. */
  readonly tokenIds?: readonly number[]
  /** Next piece of the reasoning before the answer. */
  readonly reasoning?: string
  /** Increments to the tool calls of the choice; never empty. */
  readonly toolCalls?: readonly ToolCallChunk[]
}

/** A complete JSON text from an upstream: the data of one event when streaming, the body otherwise. */
export interface RelayedText {
  readonly json: string
  /** The same, parsed; its numbers may be rounded. */
  readonly value: Readonly<Record<string, unknown>>
  /** True for an event that only this server requested: it is recorded but not sent to the client. */
  readonly isHidden?: boolean
}

/**
 * Text from an upstream: one or more events in order, or the single body of an answer that is not streamed.
 * Events that arrived together stay in one delta, which is far cheaper than one delta each.
 */
export interface RelayedDelta {
  readonly type: 'relayed'
  readonly texts: readonly RelayedText[]
  /** What the upstream says beside its answer that the request cost, in US dollars; absent: nothing. */
  readonly cost?: string
}

/** Part of an answer's body that is not JSON, such as audio. */
export interface BytesDelta {
  readonly type: 'bytes'
  /** Media type of the whole body, repeated in each part. */
  readonly contentType: string
  /** In order, at least one. */
  readonly pieces: readonly Uint8Array[]
  /** Whether the body has told its reader of an error by now, which the backend throws at the end. */
  readonly tellsError: boolean
  /** The usage that the body has reported by now, or null. */
  readonly usage: Readonly<Record<string, unknown>> | null
}

export type Delta = PromptDelta | ChoiceDelta | RelayedDelta | BytesDelta

/** What a backend knows about a model beyond its name: its context length, tokens of prompt and answer together. */
export interface ModelDetails {
  readonly max_model_len?: number
}

/** What the latency is measured of: the first event of a stream, or a whole response. */
export type LatencyKind = 'stream' | 'whole'

/** The state of one upstream: its number from 1, its address without credentials. */
export interface UpstreamState {
  readonly number: number
  readonly address: string
  /** Requests in flight. */
  readonly busyCount: number
  /** Consecutive failures; 0 after an answer. */
  readonly failureCount: number
  /** Its share of the load, above 0. */
  readonly weight: number
  /** Index in the order in which a request would choose now, from 0. */
  readonly rank: number
  /** Remaining milliseconds of its back-off after failures; 0 when it takes requests. */
  readonly restsMs: number
  /** Moving averages of milliseconds until the first event of a stream, and until a whole response; null: none yet. */
  readonly firstEventMs: number | null
  readonly responseMs: number | null
}

export interface InferenceBackend {
  /** Name used in logs and headers, never an address. */
  readonly kind: string
  readonly fields: FieldSupport
  /** By a rejected field: a sentence for its refusal that says how the operator lets it in. */
  readonly hints?: Readonly<Partial<Record<keyof FieldSupport, string>>>
  /** Whether it ignores request fields that the schema does not name. Default false: it forwards them. */
  readonly ignoresUnknown?: boolean
  /** Whether it honours `adapter`. Default false. */
  readonly takesAdapters?: boolean
  /**
   * Runs one completion. Yields one PromptDelta and then ChoiceDeltas (in order for each index) until every
   * index has a `finish_reason`; or RelayedDeltas only, a single one for an answer that is not streamed. Throws the
   * signal's reason within one step of its abort. The consumer may stop iterating at any time.
   * @throws ApiError context_length_exceeded, invalid_value, server_overloaded, upstream_*
   */
  complete(call: CompletionCall, options: CallOptions): AsyncIterable<Delta>
  /** Kinds of requests it can answer. Default: chats only. */
  readonly offers?: readonly Capability[]
  /**
   * Answers requests that are not chats, with RelayedDeltas (the events of a stream, or one JSON text) or with
   * BytesDeltas. Absent when the backend offers only chats. Aborts and throws as `complete` does.
   */
  serve?(call: ServiceCall, options: CallOptions): AsyncIterable<RelayedDelta | BytesDelta>
  /** Whether it leaves out what it does not support, also tools and fields that nobody knows. Default: it is rejected. */
  readonly dropsUnsupported?: boolean
  /** Returns the fields of a legacy completion that it does not honour. Default: none. */
  findUnhonoured?(request: TextCompletionRequest): readonly string[]
  /** Returns the fields that it leaves out of a request of which it shows only when it runs. Default: none. */
  findDropped?(request: ChatCompletionRequest): readonly (keyof ChatCompletionRequest)[]
  /** Returns the provider in the price list that serves its models; null, or absent: none is known. */
  findProvider?(): string | null
  /** Returns the current state of its upstreams. Absent when it has none. */
  describeUpstreams?(kind?: LatencyKind): readonly UpstreamState[]
  /** Returns what is known now of a model, by the backend's name for it, without waiting for an upstream. */
  describeModel?(model: string): ModelDetails
  /** Aborts running requests and frees threads and sockets. */
  close(): Promise<void>
}
