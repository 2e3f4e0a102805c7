/**
 * Relays completions to an OpenAI-compatible upstream. Requests and answers pass as text: nothing
 * that the upstream says is rebuilt, and a broken answer never looks like a whole one.
 */
import { ApiError } from '../../errors.ts'
import type { CompletionCall, InferenceBackend, RelayedDelta } from '../backend.ts'
import {
  createEventReader,
  type EventReader,
  readCompletion,
  readErrorText,
} from './answer-body.ts'
import {
  createUpstreamClient,
  type UpstreamAnswer,
  type UpstreamClient,
  type UpstreamClientOptions,
  type UpstreamTimeouts,
} from './client.ts'
import { isConnectTimeout, isCutOff, statusOf, toStatusError } from './errors.ts'
import { createModelProbe } from './model-probe.ts'
import { type Engine, PROFILES, type Profile, toFieldSupport } from './profiles.ts'
import {
  RETRY_AFTER_S_MAX,
  type RetryClock,
  SYSTEM_CLOCK,
  TryFailure,
  withRetries,
} from './retry.ts'
import { createTargetPool, type Lease, type TargetPool } from './target-pool.ts'
import { renderUpstreamBody } from './upstream-body.ts'

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
  const sources = targets.map(({ value: { client, model } }) => ({
    load: client.listModels,
    model,
  }))
  const probe = createModelProbe({ sources, nowMs: clock.nowMs })
  return {
    kind: engine,
    fields: toFieldSupport(PROFILES[engine], unsupported),
    complete: (call, { signal }) => relay({ pool, profile: PROFILES[engine], clock }, call, signal),
    describeModel: probe.find,
    async close() {
      await Promise.all(targets.map(({ value }) => value.client.close()))
    },
  }
}

/** An answer that has begun: what comes first is read, what follows is not. */
interface Opened {
  readonly answer: UpstreamAnswer
  readonly lease: Lease<Target>
  readonly first: RelayedDelta
  /** What follows in a stream; null after a whole answer. */
  readonly events: EventReader | null
}

async function* relay(
  { pool, profile, clock }: Relay,
  call: CompletionCall,
  signal: AbortSignal,
): AsyncGenerator<RelayedDelta> {
  const tried = new Set<number>()
  const { answer, lease, first, events } = await withRetries(
    () => open({ pool, profile }, call, tried, signal),
    { clock, signal, hasOther: () => pool.hasFresh(tried) },
  )
  let isComplete = events === null
  let isTrusted = true
  try {
    for (let event: RelayedDelta | null = first; event !== null; ) {
      yield event
      event = events === null ? null : await events.next()
    }
    isComplete = true
  } catch (error) {
    if (!signal.aborted && isUpstreamFault(error)) lease.fail()
    isTrusted = !isNonsense(error)
    throw error
  } finally {
    answer.close({ isComplete, isTrusted })
    lease.end()
  }
}

/**
 * One try: an answer whose first event, or whole body, is no error.
 *
 * @param tried - numbers of the upstreams that were asked; the one asked now is added
 * @throws TryFailure where another try may help
 */
async function open(
  { pool, profile }: Pick<Relay, 'pool' | 'profile'>,
  call: CompletionCall,
  tried: Set<number>,
  signal: AbortSignal,
): Promise<Opened> {
  const { request, body, model, requestId, onUpstream } = call
  const lease = pool.take(tried)
  tried.add(lease.number)
  onUpstream?.(lease.number)
  const { client } = lease.value
  let answer: UpstreamAnswer | null = null
  try {
    const text = renderUpstreamBody(body, request, lease.value.model ?? model, profile)
    answer = await client.post(text, { requestId, signal, isStream: request.stream === true })
    await requireSuccess(answer, client.host)
    const begun = await begin(answer, client.host, call)
    lease.succeed()
    return { answer, lease, ...begun }
  } catch (error) {
    const failure = signal.aborted ? error : toTryFailure(error, request.stream === true)
    answer?.close({ isComplete: false, isTrusted: !isNonsense(error) })
    // A caller without patience says nothing of the upstream.
    if (!signal.aborted) noteFailure(lease, failure)
    lease.end()
    throw failure
  }
}

/**
 * Spec: §8 (not shown).
 * Choice: engines that answer 200 and then an error have not begun; it counts as a failed status does.
 */
async function begin(
  answer: UpstreamAnswer,
  host: string,
  { request }: CompletionCall,
): Promise<Pick<Opened, 'first' | 'events'>> {
  if (request.stream !== true) return { first: await readCompletion(answer, host), events: null }
  const events = createEventReader(answer, host, request)
  const first = await events.next()
  if (first === null) throw new ApiError('upstream_invalid_response')
  return { first, events }
}

/** Statuses of a server that is away for the moment. */
const RETRIED_STATUSES: readonly (number | null)[] = [502, 503, 504]

/** @param isStream - whether an answer that broke off had not begun: nothing of it was read */
function toTryFailure(error: unknown, isStream: boolean): unknown {
  if (!(error instanceof ApiError)) return error
  const { code, retryAfterS, cause } = error
  if (code === 'upstream_unreachable' || isConnectTimeout(cause)) return new TryFailure(error)
  if (isStream && isCutOff(error)) return new TryFailure(error)
  const status = statusOf(error)
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

/** Whether what came was no answer: it may have been meant for nobody, or for another request. */
function isNonsense(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'upstream_invalid_response'
}

async function requireSuccess(answer: UpstreamAnswer, host: string): Promise<void> {
  const { status, retryAfter } = answer
  if (status !== 200) {
    const text = await readErrorText(answer)
    throw toStatusError({ status, text, retryAfter, host, nowMs: Date.now() })
  }
  if (answer.isReadable) return
  throw new ApiError('upstream_invalid_response', { cause: new Error('unknown compression') })
}
