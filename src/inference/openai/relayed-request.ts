/**
 * Sends one request to the upstreams of a model: each try to the best one that works, and again only where the policy of
 * the model lets it. It returns a response that has begun without an error.
 */
import { ApiError } from '../../errors.ts'
import type { CallOptions, Delta, RelayedDelta } from '../backend.ts'
import type { EventRules } from './event-rules.ts'
import { createEventReader, readErrorText } from './response-body.ts'
import type { UpstreamClient, UpstreamResponse } from './upstream/client.ts'
import {
  concernsRequest,
  isSurelyUnprocessed,
  parseRetryAfter,
  statusOf,
  toStatusError,
} from './upstream/errors.ts'
import type { Redact } from './upstream/redaction.ts'
import {
  RETRY_AFTER_S_MAX,
  type RetryClock,
  type RetryPolicy,
  type TargetPool,
  type TargetUse,
  TryFailure,
  withRetries,
} from './upstream/targets.ts'
import type { EngineRequest } from './upstream-request.ts'

/** One upstream of a model. */
interface Target {
  readonly client: UpstreamClient
  readonly model: string | null
  readonly address: string
}

/** What all requests to a model share. */
export interface Relay {
  readonly pool: TargetPool<Target>
  readonly callsTools: boolean
  readonly clock: RetryClock
  readonly retries: RetryPolicy
  /** Whether the engine answers 500 with its own error object to a request that it cannot serve. Default false. */
  readonly failsRequestsWith500?: boolean
}

/** The beginning of an answer and a reader for the rest. */
export interface Begun<T> {
  readonly first: T
  /** Returns null after the last part. */
  readonly rest: { next(): Promise<T | null> }
}

/** An answer that has begun. */
interface Opened<T> {
  readonly answer: UpstreamResponse
  readonly use: TargetUse<Target>
  /** What was read of the answer so far. */
  readonly begun: T
}

/** Reads the beginning of an answer. @throws ApiError for an error in it */
export type Begin<T> = (answer: UpstreamResponse, redact: Redact) => Promise<T>

/** Returns the single part of an answer that is read whole. */
export async function relayWhole(
  relay: Relay,
  ask: EngineRequest,
  options: CallOptions,
  read: Begin<RelayedDelta>,
): Promise<RelayedDelta> {
  const { answer, use, begun } = await openWithRetries(relay, ask, options, read)
  answer.close({ isComplete: true })
  use.end()
  return answer.cost === undefined ? begun : { ...begun, cost: answer.cost }
}

/** Yields the parts of an answer. */
export async function* relayParts<T, D extends Delta>(
  relay: Relay,
  ask: EngineRequest,
  options: CallOptions,
  { begin, toDelta }: { readonly begin: Begin<Begun<T>>; readonly toDelta: (part: T) => D },
): AsyncGenerator<D> {
  const { answer, use, begun } = await openWithRetries(relay, ask, options, begin)
  let isComplete = false
  let isTrusted = true
  try {
    for (let part: T | null = begun.first; part !== null; part = await begun.rest.next()) {
      yield toDelta(part)
    }
    isComplete = true
  } catch (error) {
    if (!options.signal.aborted && isUpstreamFault(error)) use.fail()
    isTrusted = !isNonsense(error)
    throw error
  } finally {
    answer.close({ isComplete, isTrusted })
    use.end()
  }
}

type Texts = RelayedDelta['texts']

/** Yields the events of a stream. */
export function relayEvents(
  relay: Relay,
  ask: EngineRequest,
  run: CallOptions,
  openRules: (redact: Redact) => EventRules,
): AsyncGenerator<RelayedDelta> {
  const begin: Begin<Begun<Texts>> = (answer, redact) =>
    beginStream(answer, redact, openRules(redact))
  const toDelta = (texts: Texts): RelayedDelta => ({ type: 'relayed', texts })
  return relayParts(relay, ask, run, { begin, toDelta })
}

/**
 * Spec: §8 (not shown).
 * Choice: a 200 whose first event is an error counts as a failed status: the answer has not begun.
 */
async function beginStream(answer: UpstreamResponse, redact: Redact, rules: EventRules) {
  const rest = createEventReader(answer, redact, rules)
  const first = await rest.next()
  if (first === null) throw new ApiError('upstream_invalid_response')
  return { first, rest }
}

/** Yields the single value that is loaded. */
export async function* yieldOne<T>(load: () => Promise<T>): AsyncGenerator<T> {
  yield await load()
}

function openWithRetries<T>(
  relay: Relay,
  ask: EngineRequest,
  options: CallOptions,
  begin: Begin<T>,
): Promise<Opened<T>> {
  const { pool, clock, retries: policy } = relay
  const tried = new Set<number>()
  return withRetries(() => open({ ...relay, begin }, ask, tried, options), {
    policy,
    clock,
    signal: options.signal,
    hasOther: () => pool.hasFresh(tried),
  })
}

/**
 * Makes one try and returns an answer that does not begin with an error.
 *
 * @param tried - numbers of the upstreams tried so far; this one is added
 * @throws TryFailure where another try may help
 */
async function open<T>(
  { pool, callsTools, begin, retries, failsRequestsWith500 }: Relay & { readonly begin: Begin<T> },
  ask: EngineRequest,
  tried: Set<number>,
  { signal, observer }: CallOptions,
): Promise<Opened<T>> {
  const { model, requestId, ...how } = ask
  const use = pool.take(tried, ask.isStream ? 'stream' : 'whole')
  tried.add(use.number)
  observer?.onUpstream(use.number)
  const beganMs = performance.now()
  const { client } = use.value
  let answer: UpstreamResponse | null = null
  try {
    const target = { model: use.value.model ?? model, callsTools }
    answer = await client.post(ask.render(target), { ...how, requestId, signal })
    if (answer.status !== 200) {
      throw await readStatusError(answer, client.redact, failsRequestsWith500)
    }
    if (!answer.isReadable) throw unreadable()
    const begun = await begin(answer, client.redact)
    use.succeed()
    return { answer, use, begun }
  } catch (error) {
    const failure = signal.aborted ? error : toTryFailure(error, retries)
    answer?.close({ isComplete: false, isTrusted: !isNonsense(error) })
    // An abort by the caller is no failure of the upstream.
    if (!signal.aborted) noteFailure(use, failure)
    use.end()
    throw failure
  } finally {
    observer?.onTried(performance.now() - beganMs)
  }
}

/** Returns the error for an answer without a success status. */
async function readStatusError(
  answer: UpstreamResponse,
  redact: Redact,
  failsRequestsWith500 = false,
): Promise<ApiError> {
  const text = await readErrorText(answer)
  const retryAfterS = parseRetryAfter(answer.retryAfter, Date.now())
  return toStatusError({ status: answer.status, text, retryAfterS, redact, failsRequestsWith500 })
}

function unreadable(): ApiError {
  return new ApiError('upstream_invalid_response', { cause: new Error('unknown compression') })
}

/**
 * Spec: §8 (not shown).
 * Choice: unless the model's entry names the failure, a request is sent again only if the upstream certainly did not
 * process it, since a completion costs money and may have effects. After 502 and 504 of a proxy, resets and timeouts, the
 * upstream may still be at work.
 */
export function toTryFailure(error: unknown, { codes }: RetryPolicy): unknown {
  if (!(error instanceof ApiError)) return error
  if (isSurelyUnprocessed(error)) return new TryFailure(error)
  const status = statusOf(error)
  if (status === 503 || error.code === 'upstream_overloaded') return new TryFailure(error)
  const { retryAfterS } = error
  if (codes.includes(error.code) && !concernsRequest(error)) {
    return new TryFailure(error, retryAfterS === null ? null : retryAfterS * 1000)
  }
  const isShortWait = retryAfterS !== null && retryAfterS <= RETRY_AFTER_S_MAX
  return status === 429 && isShortWait ? new TryFailure(error, retryAfterS * 1000) : error
}

/** Notes a failure at its upstream, which is then not used for a while, or for the time that it asked for. */
export function noteFailure(use: TargetUse<unknown>, failure: unknown): void {
  const error = failure instanceof TryFailure ? failure.error : failure
  if (!(error instanceof ApiError) || concernsRequest(error)) return
  if (error.code === 'upstream_rate_limited') use.fail({ restMs: (error.retryAfterS ?? 1) * 1000 })
  else if (isOutOfUse(error) || isUpstreamFault(error)) use.fail()
}

function isOutOfUse({ code }: ApiError): boolean {
  return code === 'upstream_unreachable' || code === 'upstream_auth'
}

function isUpstreamFault(error: unknown): boolean {
  const codes = [
    'upstream_error',
    'upstream_overloaded',
    'upstream_invalid_response',
    'upstream_timeout',
  ]
  return error instanceof ApiError && codes.includes(error.code)
}

/** Whether the bytes received are no valid answer; they may even belong to another request. */
function isNonsense(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'upstream_invalid_response'
}
