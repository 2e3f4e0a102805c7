/**
 * The contract of an inference backend: what the chat route asks and what comes back.
 * A backend never knows HTTP statuses or sockets; it throws ApiError codes.
 */
import type { Readable } from 'node:stream'
import type { FieldUse } from '../domain/chat/chat-rules.ts'
import type { ChatCompletionRequest } from '../schemas/chat/chat-request.ts'
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

/** Total over the request's fields, so that a new field does not compile until it is decided. */
export type FieldSupport = Readonly<Record<keyof ChatCompletionRequest, FieldUse>>

/** The weights of a checkpoint, which are added to a model's. */
export interface Adapter {
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string
  readonly bytes: number
  /** The bytes. @throws ApiError checkpoint_not_found when they were removed meanwhile */
  open(): Promise<Readable>
}

/** One completion to be made. */
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
  /** Id of the caller's key, for backends that share their places out among keys. */
  readonly keyId?: string
  /** Told the number of the upstream, from 1, that is asked; called again for another try. */
  readonly onUpstream?: (number: number) => void
  /** Told how long a try was waited for, milliseconds: until its answer began, or it failed. */
  readonly onTried?: (ms: number) => void
}

/** What a model may be asked, as the models file says it. `tokenize` stands for both ways. */
export const CAPABILITIES = [
  'chat',
  'completions',
  'embeddings',
  'tokenize',
  'responses',
  'moderations',
  'images',
  'image_edits',
  'image_variations',
  'speech',
  'transcriptions',
  'translations',
] as const
export type Capability = (typeof CAPABILITIES)[number]

/** What is asked beside chats, and the request of each. */
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
  readonly tokenize: TokenizeRequest
  readonly detokenize: DetokenizeRequest
}
export type Service = keyof ServiceRequests

/** A field of a form, or a file of it. Names are as the client sent them: any text. */
export type FormPart =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string
      readonly filename: string
      /** As the client tells it, visible ASCII. */
      readonly contentType: string
      readonly bytes: Uint8Array
    }

/** One request of a service; the other fields as of a completion. */
export interface ServiceCallOf<S extends Service> extends Omit<CompletionCall, 'request'> {
  readonly service: S
  readonly request: ServiceRequests[S]
  /** Of a request that came as a form, in the place of `body`. */
  readonly form?: readonly FormPart[]
  /** Name of the model for answers that the backend makes itself. */
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

/** For each token of a prompt, by id: the token itself and its likeliest alternatives. Null for the first. */
export type PromptLogprobs = ReadonlyArray<Readonly<
  Record<
    string,
    { readonly logprob: number; readonly rank: number; readonly decoded_token: string }
  >
> | null>

/** First of a completion, once: the prompt was read. */
export interface PromptDelta {
  readonly type: 'prompt'
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Ids of the prompt's tokens, where they were asked for. */
  readonly promptIds?: readonly number[]
  /** Where they were asked for. */
  readonly promptLogprobs?: PromptLogprobs
}

/** What is added to one tool call of a choice. */
export interface ToolCallPiece {
  /** Which call of the choice, from 0. */
  readonly index: number
  /** In the first piece of a call only, as `name`. */
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
  /** `tool_calls`: it ended with calls that are whole. */
  readonly finish_reason: 'stop' | 'length' | 'tool_calls' | null
  /** What stopped it: a stop token's id, a stop string, or null. */
  readonly stop_reason: number | string | null
  /** Ids of the tokens of this piece, where they were asked for. */
  readonly tokenIds?: readonly number[]
  /** Next piece of the reasoning before the answer. */
  readonly reasoning?: string
  /** What is added to its tool calls; never empty. */
  readonly toolCalls?: readonly ToolCallPiece[]
}

/** A whole JSON text of an upstream: one event's data when streaming, the body otherwise. */
export interface RelayedText {
  readonly json: string
  /** The same, parsed; its numbers may be rounded. */
  readonly value: Readonly<Record<string, unknown>>
  /** True for what only this server asked for: it is looked at and not passed on. */
  readonly isHidden?: boolean
}

/**
 * What an upstream sent: events in their order, at least one, or the one body of an answer that is not streamed.
 * Events that came together stay together on their way, which costs far less than one by one.
 */
export interface RelayedDelta {
  readonly type: 'relayed'
  readonly texts: readonly RelayedText[]
}

/** What an upstream sent that is no JSON, as audio: part of the one body of the answer. */
export interface BytesDelta {
  readonly type: 'bytes'
  /** Media type of the whole, the same in each part. */
  readonly contentType: string
  /** In their order, at least one. */
  readonly pieces: readonly Uint8Array[]
}

export type Delta = PromptDelta | ChoiceDelta | RelayedDelta | BytesDelta

/** What is known of a model beyond its name. */
export interface ModelDetails {
  /** Tokens of prompt and answer together. */
  readonly max_model_len?: number
}

/** How one of several upstreams does. */
export interface UpstreamState {
  /** From 1. */
  readonly number: number
  /** Where it is: an address without credentials. */
  readonly address: string
  /** Requests that are there now. */
  readonly busyCount: number
  /** Failures in a row; 0 once it has answered. */
  readonly failureCount: number
  /** Milliseconds that it is still left alone after failures; 0: it is asked. */
  readonly restsMs: number
}

export interface InferenceBackend {
  /** Name used in logs and headers, never an address. */
  readonly kind: string
  readonly fields: FieldSupport
  /** Whether it passes over fields of a request that the schema does not name. Default false: it forwards them. */
  readonly ignoresUnknown?: boolean
  /** Whether it honours `adapter`. Default false. */
  readonly takesAdapters?: boolean
  /**
   * Makes one completion. Yields one PromptDelta, then ChoiceDeltas of all choices (in order for each
   * index) until each index had its `finish_reason`; or RelayedDeltas only. Stops within one step of the
   * signal's abort by throwing the signal's reason. The consumer may leave the iteration at any time.
   *
   * @throws ApiError context_length_exceeded, invalid_value, server_overloaded, upstream_*
   */
  complete(call: CompletionCall, options: { readonly signal: AbortSignal }): AsyncIterable<Delta>
  /**
   * The one delta of an answer that is not streamed, where a backend has it at once; with it `complete` is asked for
   * streams only. It stops and throws as `complete` does.
   */
  completeWhole?(
    call: CompletionCall,
    options: { readonly signal: AbortSignal },
  ): Promise<RelayedDelta>
  /** What it can be asked. Default: chats alone. */
  readonly offers?: readonly Capability[]
  /**
   * Answers requests that are not chats, with RelayedDeltas (the events of a stream, or one JSON text) or with
   * BytesDeltas. Absent when it offers only chats. It stops and throws as `complete` does.
   */
  serve?(
    call: ServiceCall,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<RelayedDelta | BytesDelta>
  /** How its upstreams do now. Absent where there are none. */
  describeUpstreams?(): readonly UpstreamState[]
  /** What is known now of a model, by the backend's name for it; never waits. */
  describeModel?(model: string): ModelDetails
  /** Ends what is running and frees threads and sockets. */
  close(): Promise<void>
}
