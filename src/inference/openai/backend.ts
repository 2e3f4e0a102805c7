/**
 * Relays completions to an OpenAI-compatible upstream. Requests and answers pass as text: nothing
 * that the upstream says is rebuilt, and a broken answer never looks like a whole one.
 */
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat-request.ts'
import type { CompletionCall, InferenceBackend, RelayedDelta } from '../backend.ts'
import {
  createUpstreamClient,
  type UpstreamAnswer,
  type UpstreamClient,
  type UpstreamClientOptions,
} from './client.ts'
import { parseObject, toEventError, toStatusError } from './errors.ts'
import { type Engine, PROFILES, type Profile, toFieldSupport } from './profiles.ts'
import { createSseDecoder } from './sse-decoder.ts'
import { renderUpstreamBody } from './upstream-body.ts'

/** Limits of what is read of an answer, in bytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BODY_BYTES_MAX = 64 * 1024

export interface OpenAiBackendOptions extends UpstreamClientOptions {
  /** Kind of the engine, which decides how fields are told to it. Default: generic. */
  readonly engine?: Engine
  /** What becomes of fields that the engine does not honour. Default: reject. */
  readonly unsupported?: 'reject' | 'drop'
}

/** A backend over one upstream address with a pool of its own. */
export function createOpenAiBackend(options: OpenAiBackendOptions): InferenceBackend {
  const { engine = 'generic', unsupported = 'reject' } = options
  const client = createUpstreamClient(options)
  return {
    kind: engine,
    fields: toFieldSupport(PROFILES[engine], unsupported),
    complete: (call, { signal }) => relay(client, call, PROFILES[engine], signal),
    close: client.close,
  }
}

async function* relay(
  client: UpstreamClient,
  { request, body, model, requestId }: CompletionCall,
  profile: Profile,
  signal: AbortSignal,
): AsyncGenerator<RelayedDelta> {
  const isStream = request.stream === true
  const text = renderUpstreamBody(body, request, model, profile)
  const answer = await client.post(text, { requestId, signal, isStream })
  let isComplete = false
  try {
    await requireSuccess(answer, client.host)
    if (isStream) yield* relayEvents(answer, client.host, request)
    else yield await readCompletion(answer, client.host)
    isComplete = true
  } finally {
    answer.close({ isComplete })
  }
}

async function requireSuccess(answer: UpstreamAnswer, host: string): Promise<void> {
  const { status, retryAfter } = answer
  if (status === 200) {
    if (answer.isPlain) return
    throw new ApiError('upstream_invalid_response', { cause: new Error('compressed answer') })
  }
  const { text } = await readText(answer, ERROR_BODY_BYTES_MAX)
  throw toStatusError({ status, text, retryAfter, host, nowMs: Date.now() })
}

/** The body of a completion that is not streamed, as it came. */
async function readCompletion(answer: UpstreamAnswer, host: string): Promise<RelayedDelta> {
  const { text, isWhole } = await readText(answer, BODY_BYTES_MAX)
  if (!isWhole) {
    throw new ApiError('upstream_invalid_response', {
      message: 'The upstream sent an answer that is too large.',
    })
  }
  const body = parseObject(text)
  if (body?.error) throw toEventError(body.error, host, Date.now())
  if (body === null || !Array.isArray(body.choices)) throw new ApiError('upstream_invalid_response')
  return { type: 'relayed', json: text, value: body }
}

/**
 * The data of each event up to `[DONE]`, unchanged and in order. A stream may end without `[DONE]` once
 * all its choices have ended.
 *
 * @throws ApiError of an error event; upstream_invalid_response for what is no stream of JSON objects;
 * upstream_error for a stream that breaks off
 *
 * Spec: §4.3 (chunk format not shown).
 * Choice: one event that is no JSON ends the stream as an error; to skip it would lose text unseen.
 */
async function* relayEvents(
  answer: UpstreamAnswer,
  host: string,
  request: ChatCompletionRequest,
): AsyncGenerator<RelayedDelta> {
  if (answer.mediaType !== 'text/event-stream') await refuseBody(answer, host)
  const hidesUsage = request.stream_options?.include_usage !== true
  const decoder = createSseDecoder()
  const finished = new Set<unknown>()
  let eventCount = 0
  for (let piece = await answer.read(); piece !== null; piece = await answer.read()) {
    for (const json of decoder.push(piece)) {
      if (json.startsWith('[DONE]')) {
        if (eventCount === 0) throw new ApiError('upstream_invalid_response')
        return
      }
      const value = requireChunk(json, host)
      noteFinished(value, finished)
      eventCount += 1
      yield { type: 'relayed', json, value, isHidden: hidesUsage && isUsageChunk(value) }
    }
  }
  if (finished.size >= (request.n ?? 1)) return
  throw new ApiError('upstream_error', { message: 'The upstream broke off its answer.' })
}

/** A stream was asked for and something else came: the error in it, or nonsense. */
async function refuseBody(answer: UpstreamAnswer, host: string): Promise<never> {
  const { text } = await readText(answer, ERROR_BODY_BYTES_MAX)
  const error = parseObject(text)?.error
  throw error ? toEventError(error, host, Date.now()) : new ApiError('upstream_invalid_response')
}

function requireChunk(json: string, host: string): Record<string, unknown> {
  const chunk = parseObject(json)
  if (chunk === null) throw new ApiError('upstream_invalid_response')
  if (chunk.error) throw toEventError(chunk.error, host, Date.now())
  return chunk
}

/** Whether a chunk is there for the usage alone. */
function isUsageChunk({ choices, usage }: Record<string, unknown>): boolean {
  return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object'
}

/** Remembers which choices ended with this chunk. */
function noteFinished(chunk: Record<string, unknown>, finished: Set<unknown>): void {
  if (!Array.isArray(chunk.choices)) return
  for (const choice of chunk.choices) {
    if (choice?.finish_reason) finished.add(choice.index)
  }
}

/** The body as text, at most `bytesMax` of it; without a byte order mark. */
async function readText(
  answer: UpstreamAnswer,
  bytesMax: number,
): Promise<{ text: string; isWhole: boolean }> {
  const pieces: Uint8Array[] = []
  let byteCount = 0
  for (let piece = await answer.read(); piece !== null; piece = await answer.read()) {
    byteCount += piece.length
    if (byteCount > bytesMax) break
    pieces.push(piece)
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces))
  return { text, isWhole: byteCount <= bytesMax }
}
