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
  type UpstreamTimeouts,
} from './client.ts'
import { isConnectTimeout, parseObject, toEventError, toStatusError } from './errors.ts'
import { createModelProbe } from './model-probe.ts'
import { type Engine, PROFILES, type Profile, toFieldSupport } from './profiles.ts'
import {
  RETRY_AFTER_S_MAX,
  type RetryClock,
  SYSTEM_CLOCK,
  TryFailure,
  withRetries,
} from './retry.ts'
import { createSseDecoder } from './sse-decoder.ts'
import { createTargetPool, type Lease, type TargetPool } from './target-pool.ts'
import { renderUpstreamBody } from './upstream-body.ts'

/** Limits of what is read of an answer, in bytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BODY_BYTES_MAX = 64 * 1024

/** One address that serves the model. */
export interface Upstream extends Omit<UpstreamClientOptions, 'timeoutMs'> {
  /** Name of the model there; null: that of the call. */
  readonly model?: string | null
  /** Share of the load, above 0. Default 1. */
  readonly weight?: number
}

export interface OpenAiBackendOptions {
  /** At least one; requests go to the least busy that works. */
  readonly upstreams: readonly Upstream[]
  readonly timeoutMs: UpstreamTimeouts
  /** Kind of the engine, which decides how fields are told to it. Default: generic. */
  readonly engine?: Engine
  /** What becomes of fields that the engine does not honour. Default: reject. */
  readonly unsupported?: 'reject' | 'drop'
  /** For tests. */
  readonly clock?: RetryClock
}

interface Target {
  readonly client: UpstreamClient
  readonly model: string | null
}

interface Relay {
  readonly pool: TargetPool<Target>
  readonly profile: Profile
  readonly clock: RetryClock
}

/** A backend over upstreams that serve the same model, each with a pool of connections of its own. */
export function createOpenAiBackend(options: OpenAiBackendOptions): InferenceBackend {
  const { upstreams, engine = 'generic', unsupported = 'reject', clock = SYSTEM_CLOCK } = options
  const targets = upstreams.map((upstream) => ({
    value: {
      client: createUpstreamClient({ ...upstream, timeoutMs: options.timeoutMs }),
      model: upstream.model ?? null,
    },
    weight: upstream.weight ?? 1,
  }))
  const pool = createTargetPool(targets, clock.nowMs)
  const [first] = targets
  const probe = createModelProbe({
    load: async () => first?.value.client.listModels(),
    nowMs: clock.nowMs,
  })
  return {
    kind: engine,
    fields: toFieldSupport(PROFILES[engine], unsupported),
    complete: (call, { signal }) => relay({ pool, profile: PROFILES[engine], clock }, call, signal),
    describeModel: (model) => probe.find(first?.value.model ?? model),
    async close() {
      await Promise.all(targets.map(({ value }) => value.client.close()))
    },
  }
}

interface Opened {
  readonly answer: UpstreamAnswer
  readonly lease: Lease<Target>
}

async function* relay(
  { pool, profile, clock }: Relay,
  call: CompletionCall,
  signal: AbortSignal,
): AsyncGenerator<RelayedDelta> {
  const tried = new Set<number>()
  const { answer, lease } = await withRetries(() => open({ pool, profile }, call, tried, signal), {
    clock,
    signal,
    hasOther: () => pool.hasFresh(tried),
  })
  const { host } = lease.value.client
  let isComplete = false
  try {
    if (call.request.stream === true) yield* relayEvents(answer, host, call.request)
    else yield await readCompletion(answer, host)
    isComplete = true
  } catch (error) {
    if (isUpstreamFault(error)) lease.fail()
    throw error
  } finally {
    answer.close({ isComplete })
    lease.end()
  }
}

/**
 * One try: an answer with a success status, whose body is still to be read.
 *
 * @param tried - numbers of the upstreams that were asked; the one asked now is added
 * @throws TryFailure where another try may help
 */
async function open(
  { pool, profile }: Pick<Relay, 'pool' | 'profile'>,
  { request, body, model, requestId, onUpstream }: CompletionCall,
  tried: Set<number>,
  signal: AbortSignal,
): Promise<Opened> {
  const lease = pool.take(tried)
  tried.add(lease.number)
  onUpstream?.(lease.number)
  const { client } = lease.value
  try {
    const text = renderUpstreamBody(body, request, lease.value.model ?? model, profile)
    const isStream = request.stream === true
    const answer = await client.post(text, { requestId, signal, isStream })
    try {
      await requireSuccess(answer, client.host)
    } catch (error) {
      answer.close({ isComplete: false })
      throw toTryFailure(error, answer.status)
    }
    lease.succeed()
    return { answer, lease }
  } catch (error) {
    const failure = signal.aborted ? error : toTryFailure(error, null)
    noteFailure(lease, failure)
    lease.end()
    throw failure
  }
}

/** Statuses of a server that is away for the moment. */
const RETRIED_STATUSES: readonly (number | null)[] = [502, 503, 504]

/** @param status - the answer's, or null where there was none */
function toTryFailure(error: unknown, status: number | null): unknown {
  if (!(error instanceof ApiError)) return error
  const { code, retryAfterS, cause } = error
  const isUnconnected = code === 'upstream_unreachable' || isConnectTimeout(cause)
  if (status === null) return isUnconnected ? new TryFailure(error) : error
  if (RETRIED_STATUSES.includes(status)) return new TryFailure(error)
  const isShortWait = retryAfterS !== null && retryAfterS <= RETRY_AFTER_S_MAX
  return status === 429 && isShortWait ? new TryFailure(error, retryAfterS * 1000) : error
}

/** An upstream that asks for rest gets it; one that fails is left alone for a while. */
function noteFailure(lease: Lease<Target>, failure: unknown): void {
  const error = failure instanceof TryFailure ? failure.error : failure
  if (!(error instanceof ApiError)) return
  if (error.code === 'upstream_rate_limited')
    lease.fail({ restMs: (error.retryAfterS ?? 1) * 1000 })
  else if (error.code === 'upstream_unreachable' || isUpstreamFault(error)) lease.fail()
}

function isUpstreamFault(error: unknown): boolean {
  const codes = ['upstream_error', 'upstream_invalid_response', 'upstream_timeout']
  return error instanceof ApiError && codes.includes(error.code)
}

async function requireSuccess(answer: UpstreamAnswer, host: string): Promise<void> {
  const { status, retryAfter } = answer
  if (status === 200) {
    if (answer.isReadable) return
    throw new ApiError('upstream_invalid_response', { cause: new Error('unknown compression') })
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
