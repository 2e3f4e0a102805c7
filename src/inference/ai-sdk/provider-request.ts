/** Makes one request to a provider, again only where that is safe; its failures count as those of other upstreams. */
import { renderJson } from '../../domain/json/json-text.ts'
import { ApiError } from '../../errors.ts'
import type { CallOptions, RelayedDelta } from '../backend.ts'
import { noteFailure, toTryFailure } from '../openai/relayed-request.ts'
import type { Redact } from '../openai/upstream/redaction.ts'
import {
  type RetryClock,
  type RetryPolicy,
  type TargetPool,
  type TargetUse,
  withRetries,
} from '../openai/upstream/targets.ts'
import { toProviderError } from './failures.ts'
import type { PartReader } from './part-reader.ts'
import type { ProviderCall, ProviderFetch } from './provider-fetch.ts'

/** What all requests to a model share. */
export interface ProviderLink {
  readonly pool: TargetPool<null>
  readonly clock: RetryClock
  readonly retries: RetryPolicy
  readonly fetch: ProviderFetch
  readonly redact: Redact
}

type Ask = Pick<ProviderCall, 'requestId' | 'isStream'>
type ToError = (error: unknown) => ApiError
type Begin<T> = (signal: AbortSignal, toError: ToError) => Promise<T>

/** A response that has begun. */
interface Opened<T> {
  readonly begun: T
  readonly use: TargetUse<null>
  readonly toError: ToError
  /** Cuts its connection. */
  cut(): void
}

/** Returns a response that is read whole. */
export async function runWhole<T>(
  link: ProviderLink,
  ask: Ask,
  run: CallOptions,
  begin: Begin<T>,
): Promise<T> {
  const { begun, use } = await openWithRetries(link, ask, run, begin)
  use.end()
  return begun
}

type Begun = {
  readonly first: Parameters<typeof toDelta>[0] | null
  readonly reader: PartReader
}

/** Yields the chunks of a stream. @param includesUsage - whether the client requested its usage */
export async function* runStream(
  link: ProviderLink,
  ask: Ask,
  run: CallOptions,
  includesUsage: boolean,
  begin: Begin<Begun>,
): AsyncGenerator<RelayedDelta> {
  const { begun, use, toError, cut } = await openWithRetries(link, ask, run, begin)
  let isWhole = false
  try {
    for (let next = begun.first; next !== null; next = await begun.reader.next()) {
      yield toDelta(next, includesUsage)
    }
    isWhole = true
  } catch (error) {
    if (run.signal.aborted) throw run.signal.reason
    const failure = toError(error)
    noteFailure(use, failure)
    throw failure
  } finally {
    if (!isWhole) cut()
    use.end()
  }
}

function openWithRetries<T>(
  link: ProviderLink,
  ask: Ask,
  run: CallOptions,
  begin: Begin<T>,
): Promise<Opened<T>> {
  const { clock, retries: policy } = link
  const options = { policy, clock, signal: run.signal, hasOther: () => false }
  return withRetries(() => open(link, ask, run, begin), options)
}

/** Makes one try. @throws TryFailure where another try may help */
async function open<T>(
  { pool, fetch, retries, redact }: ProviderLink,
  ask: Ask,
  { signal, observer }: CallOptions,
  begin: Begin<T>,
): Promise<Opened<T>> {
  const use = pool.take(new Set(), ask.isStream ? 'stream' : 'whole')
  observer?.onUpstream(use.number)
  const beganMs = performance.now()
  const own = new AbortController()
  const cut = () => own.abort(new ApiError('client_closed_request'))
  const call: ProviderCall = {
    ...ask,
    signal: AbortSignal.any([signal, own.signal]),
    failure: null,
  }
  const toError: ToError = (error) => toProviderError(error, call, redact)
  try {
    const begun = await fetch.run(call, () => begin(call.signal, toError))
    use.succeed()
    return { begun, use, toError, cut }
  } catch (error) {
    cut()
    use.end()
    if (signal.aborted) throw signal.reason
    const failure = toTryFailure(toError(error), retries)
    noteFailure(use, failure)
    throw failure
  } finally {
    observer?.onTried(performance.now() - beganMs)
  }
}

/** @param includesUsage - whether the client requested the usage of a stream */
export function toDelta(
  values: readonly Readonly<Record<string, unknown>>[],
  includesUsage = true,
): RelayedDelta {
  return {
    type: 'relayed',
    texts: values.map((value) => {
      const isUsage = Array.isArray(value.choices) && value.choices.length === 0
      return { json: renderJson(value), value, isHidden: isUsage && !includesUsage }
    }),
  }
}
