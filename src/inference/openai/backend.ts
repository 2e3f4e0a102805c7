/**
 * Relays completions to an OpenAI-compatible upstream. Requests and answers pass as text: nothing
 * that the upstream says is rebuilt, and a broken answer never looks like a whole one.
 */
import { ApiError } from '../../errors.ts'
import type { InferenceBackend, ModelDetails, RelayedDelta, ServiceCall } from '../backend.ts'
import {
  createEventReader,
  type EventReader,
  readAnswerOf,
  readCompletion,
  readErrorText,
  type StreamRequest,
} from './answer-body.ts'
import { toVllmTokens } from './llama-tokens.ts'
import { createModelProbe } from './model-probe.ts'
import { ENGINE_OFFERS, type Engine, PROFILES, type Profile, toFieldSupport } from './profiles.ts'
import {
  createUpstreamClient,
  type UpstreamAnswer,
  type UpstreamClient,
  type UpstreamClientOptions,
  type UpstreamTimeouts,
} from './upstream/client.ts'
import { isSurelyUnprocessed, statusOf, toStatusError } from './upstream/errors.ts'
import {
  RETRY_AFTER_S_MAX,
  type RetryClock,
  SYSTEM_CLOCK,
  TryFailure,
  withRetries,
} from './upstream/retry.ts'
import { createTargetPool, type TargetPool, type TargetUse } from './upstream/target-pool.ts'
import { type Ask, askChat, askService } from './upstream-ask.ts'

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
  /** Whether the model calls tools; else upstreams are told that it does not. Default false. */
  readonly callsTools?: boolean
  /** For tests. */
  readonly clock?: RetryClock
}

interface Target {
  readonly client: UpstreamClient
  readonly model: string | null
}

interface Relay {
  readonly pool: TargetPool<Target>
  readonly engine: Engine
  readonly profile: Profile
  readonly callsTools: boolean
  readonly clock: RetryClock
  readonly describe: (model: string) => ModelDetails
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
  const sources = targets.map(({ value: { client, model } }) => ({
    load: client.listModels,
    model,
  }))
  const { callsTools = false } = options
  const probe = createModelProbe({ sources, nowMs: clock.nowMs })
  const describe = probe.find
  const relay = { pool, engine, profile: PROFILES[engine], callsTools, clock, describe }
  return {
    kind: engine,
    fields: toFieldSupport(PROFILES[engine], unsupported),
    complete: (call, { signal }) =>
      relayEvents(relay, askChat(relay.profile, call), call.request, signal),
    completeWhole: (call, { signal }) =>
      relayWhole(relay, askChat(relay.profile, call), signal, readCompletion),
    offers: ENGINE_OFFERS[engine].usual,
    serve(call, { signal }) {
      const ask = askService(engine, call)
      if (call.service === 'completions' && ask.isStream) {
        return relayEvents(relay, ask, call.request, signal)
      }
      return relayService(relay, ask, call, signal)
    },
    describeModel: describe,
    async close() {
      await Promise.all(targets.map(({ value }) => value.client.close()))
    },
  }
}

type Texts = RelayedDelta['texts']

interface BegunStream {
  readonly first: Texts
  readonly events: EventReader
}

/** An answer that has begun. */
interface Opened<T> {
  readonly answer: UpstreamAnswer
  readonly use: TargetUse<Target>
  /** What was read of it. */
  readonly begun: T
}

/** Reads the beginning of an answer. @throws ApiError of an error in it */
type Begin<T> = (answer: UpstreamAnswer, host: string) => Promise<T>

async function relayWhole(
  relay: Relay,
  ask: Ask,
  signal: AbortSignal,
  read: Begin<RelayedDelta>,
): Promise<RelayedDelta> {
  const { answer, use, begun } = await openWithRetries(relay, ask, signal, read)
  answer.close({ isComplete: true })
  use.end()
  return begun
}

async function* relayService(
  relay: Relay,
  ask: Ask,
  { service, model }: ServiceCall,
  signal: AbortSignal,
): AsyncGenerator<RelayedDelta> {
  const answer = await relayWhole(relay, ask, signal, readAnswerOf(service))
  const isOwn = relay.engine === 'llama-server' && ask.isAtRoot === true
  yield isOwn ? toVllmTokens(answer, relay.describe(model).max_model_len ?? null) : answer
}

async function* relayEvents(
  relay: Relay,
  ask: Ask,
  request: StreamRequest,
  signal: AbortSignal,
): AsyncGenerator<RelayedDelta> {
  const begin: Begin<BegunStream> = (answer, host) => beginStream(answer, host, request)
  const { answer, use, begun } = await openWithRetries(relay, ask, signal, begin)
  const { first, events } = begun
  let isComplete = false
  let isTrusted = true
  try {
    for (let texts: Texts | null = first; texts !== null; texts = await events.next()) {
      yield { type: 'relayed', texts }
    }
    isComplete = true
  } catch (error) {
    if (!signal.aborted && isUpstreamFault(error)) use.fail()
    isTrusted = !isNonsense(error)
    throw error
  } finally {
    answer.close({ isComplete, isTrusted })
    use.end()
  }
}

function openWithRetries<T>(
  relay: Relay,
  ask: Ask,
  signal: AbortSignal,
  begin: Begin<T>,
): Promise<Opened<T>> {
  const { pool, clock } = relay
  const tried = new Set<number>()
  return withRetries(() => open({ ...relay, begin }, ask, tried, signal), {
    clock,
    signal,
    hasOther: () => pool.hasFresh(tried),
  })
}

/**
 * One try: an answer whose beginning is no error.
 *
 * @param tried - numbers of the upstreams that were asked; the one asked now is added
 * @throws TryFailure where another try may help
 */
async function open<T>(
  { pool, callsTools, begin }: Relay & { readonly begin: Begin<T> },
  ask: Ask,
  tried: Set<number>,
  signal: AbortSignal,
): Promise<Opened<T>> {
  const { path, isAtRoot = false, isStream, model, requestId, onUpstream } = ask
  const use = pool.take(tried)
  tried.add(use.number)
  onUpstream?.(use.number)
  const { client } = use.value
  let answer: UpstreamAnswer | null = null
  try {
    const target = { model: use.value.model ?? model, callsTools }
    answer = await client.post(ask.render(target), { path, isAtRoot, requestId, signal, isStream })
    if (answer.status !== 200) throw await readStatusError(answer, client.host)
    if (!answer.isReadable) throw unreadable()
    const begun = await begin(answer, client.host)
    use.succeed()
    return { answer, use, begun }
  } catch (error) {
    const failure = signal.aborted ? error : toTryFailure(error)
    answer?.close({ isComplete: false, isTrusted: !isNonsense(error) })
    // A caller without patience says nothing of the upstream.
    if (!signal.aborted) noteFailure(use, failure)
    use.end()
    throw failure
  }
}

/**
 * Spec: §8 (not shown).
 * Choice: engines that answer 200 and then an error have not begun; it counts as a failed status does.
 */
async function beginStream(answer: UpstreamAnswer, host: string, request: StreamRequest) {
  const events = createEventReader(answer, host, request)
  const first = await events.next()
  if (first === null) throw new ApiError('upstream_invalid_response')
  return { first, events }
}

/**
 * Spec: §8 (not shown).
 * Choice: only what the upstream surely did not process is sent again, since a completion costs money and may have
 * effects. 502 and 504 come of proxies whose server may still be at work, as do resets and timeouts.
 */
function toTryFailure(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  if (isSurelyUnprocessed(error)) return new TryFailure(error)
  const status = statusOf(error)
  if (status === 503) return new TryFailure(error)
  const { retryAfterS } = error
  const isShortWait = retryAfterS !== null && retryAfterS <= RETRY_AFTER_S_MAX
  return status === 429 && isShortWait ? new TryFailure(error, retryAfterS * 1000) : error
}

/** An upstream that asks for rest gets it; one that fails is left alone for a while. */
function noteFailure(use: TargetUse<Target>, failure: unknown): void {
  const error = failure instanceof TryFailure ? failure.error : failure
  if (!(error instanceof ApiError)) return
  if (error.code === 'upstream_rate_limited') use.fail({ restMs: (error.retryAfterS ?? 1) * 1000 })
  else if (error.code === 'upstream_unreachable' || isUpstreamFault(error)) use.fail()
}

function isUpstreamFault(error: unknown): boolean {
  const codes = ['upstream_error', 'upstream_invalid_response', 'upstream_timeout']
  return error instanceof ApiError && codes.includes(error.code)
}

/** Whether what came was no answer: it may have been meant for nobody, or for another request. */
function isNonsense(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'upstream_invalid_response'
}

/** The error of an answer that is not a success. */
async function readStatusError(answer: UpstreamAnswer, host: string): Promise<ApiError> {
  const { status, retryAfter } = answer
  const text = await readErrorText(answer)
  return toStatusError({ status, text, retryAfter, host, nowMs: Date.now() })
}

function unreadable(): ApiError {
  return new ApiError('upstream_invalid_response', { cause: new Error('unknown compression') })
}
