/**
 * Chooses the upstream for a request, the least busy or the fastest one that works, and repeats requests that may be sent
 * again a few times within a bounded time. If none works, the request goes to the one whose back-off ends first, since a
 * failure there tells the client more than a rejection here.
 */
import { setTimeout } from 'node:timers/promises'
import { ApiError, type ErrorCode } from '../../../errors.ts'
import type { LatencyKind, UpstreamState } from '../../backend.ts'
import { withoutClientRetries } from './errors.ts'

/** Limits of the back-off of a failing upstream, in milliseconds; doubled with each consecutive failure. */
const COOLDOWN_MS_MIN = 1_000
const COOLDOWN_MS_MAX = 60_000
/** Time constant of the moving averages of latencies: a response this old counts 1/e. */
const LATENCY_DECAY_MS = 30_000
/** Limit: age of a latency that is still expected of the next request. */
const LATENCY_MS_MAX = 60_000

/** How a request chooses among the upstreams that work. */
export type Balance = 'least_busy' | 'latency'

interface Weighted<T> {
  readonly value: T
  /** Share of the load, above 0. */
  readonly weight: number
}

/** One request at one upstream. */
export interface TargetUse<T> {
  readonly value: T
  /** Number of the upstream, from 1. */
  readonly number: number
  /** Notes that the response has begun, or is read if it is whole: that clears failures and is measured. */
  succeed(): void
  /** Notes that the upstream failed or asked for a back-off. */
  fail(options?: { readonly restMs?: number }): void
  /** Notes that the request has ended there. Idempotent. */
  end(): void
}

/** An upstream and its state. */
type TargetDescription<T> = Omit<UpstreamState, 'address'> & { readonly value: T }

export interface TargetPool<T> {
  /** @param kind - of the request whose order is asked for. Default stream. */
  describe(kind?: LatencyKind): TargetDescription<T>[]
  /** @param tried - numbers of upstreams to avoid if there are others */
  take(tried: ReadonlySet<number>, kind: LatencyKind): TargetUse<T>
  /** Whether there is a working upstream that the request has not tried. */
  hasFresh(tried: ReadonlySet<number>): boolean
}

/** A moving average of milliseconds, weighted by age. */
interface Latency {
  ms: number
  atMs: number
}

interface State<T> extends Weighted<T> {
  readonly number: number
  readonly latencies: Record<LatencyKind, Latency | null>
  busyCount: number
  failureCount: number
  restsUntilMs: number
  lastTakenAt: number
}

/**
 * @param targets - at least one
 * @param nowMs - a clock in milliseconds
 * @param balance - Default least_busy.
 */
export function createTargetPool<T>(
  targets: readonly Weighted<T>[],
  nowMs: () => number,
  balance: Balance = 'least_busy',
): TargetPool<T> {
  let takenCount = 0
  const states = targets.map(
    (target, index): State<T> => ({
      ...target,
      number: index + 1,
      latencies: { stream: null, whole: null },
      busyCount: 0,
      failureCount: 0,
      restsUntilMs: 0,
      lastTakenAt: 0,
    }),
  )

  /** Returns the upstreams, the best one for a request first. */
  function sort(tried: ReadonlySet<number>, kind: LatencyKind): State<T>[] {
    const now = nowMs()
    const expected = balance === 'latency' ? expectLatencies(states, kind, now) : []
    const penalty = (state: State<T>) =>
      (state.restsUntilMs > now ? 2 : 0) + (tried.has(state.number) ? 1 : 0)
    const load = ({ busyCount, weight, number }: State<T>) =>
      ((busyCount + 1) / weight) * (expected[number - 1] ?? 1)
    const rest = ({ restsUntilMs }: State<T>) => Math.max(restsUntilMs - now, 0)
    return [...states].sort(
      (left, right) =>
        penalty(left) - penalty(right) ||
        rest(left) - rest(right) ||
        load(left) - load(right) ||
        left.lastTakenAt - right.lastTakenAt,
    )
  }

  function choose(tried: ReadonlySet<number>, kind: LatencyKind): State<T> {
    return (states.length === 1 ? states[0] : sort(tried, kind)[0]) as State<T>
  }

  return {
    describe(kind = 'stream') {
      const sorted = sort(new Set(), kind)
      return states.map((state) => {
        const { value, number, weight, busyCount, failureCount, restsUntilMs } = state
        const restsMs = Math.max(restsUntilMs - nowMs(), 0)
        const rank = sorted.indexOf(state)
        const { stream, whole } = state.latencies
        const latencies = { firstEventMs: stream?.ms ?? null, responseMs: whole?.ms ?? null }
        return { value, number, weight, rank, busyCount, failureCount, restsMs, ...latencies }
      })
    },
    hasFresh: (tried) =>
      states.some(({ number, restsUntilMs }) => !tried.has(number) && restsUntilMs <= nowMs()),
    take(tried, kind) {
      const state = choose(tried, kind)
      const takenAtMs = nowMs()
      state.busyCount += 1
      takenCount += 1
      state.lastTakenAt = takenCount
      let isEnded = false
      return {
        value: state.value,
        number: state.number,
        succeed() {
          state.latencies[kind] = averageIn(state.latencies[kind], nowMs(), takenAtMs)
          state.failureCount = 0
          state.restsUntilMs = 0
        },
        fail({ restMs } = {}) {
          state.failureCount += 1
          const doubled = COOLDOWN_MS_MIN * 2 ** (state.failureCount - 1)
          const ms = restMs ?? Math.min(doubled, COOLDOWN_MS_MAX)
          state.restsUntilMs = Math.max(state.restsUntilMs, nowMs() + ms)
        },
        end() {
          if (isEnded) return
          isEnded = true
          state.busyCount -= 1
        },
      }
    },
  }
}

/** Adds the latency of a response; the longer ago the average was, the less it counts. */
function averageIn(before: Latency | null, nowMs: number, takenAtMs: number): Latency {
  const ms = nowMs - takenAtMs
  if (before === null || nowMs - before.atMs > LATENCY_MS_MAX) return { ms, atMs: nowMs }
  // The response itself took time: without it, two responses at one moment would count as one.
  const kept = Math.exp(-Math.max(nowMs - before.atMs, ms) / LATENCY_DECAY_MS)
  return { ms: kept * before.ms + (1 - kept) * ms, atMs: nowMs }
}

/**
 * Returns the expected latency of each upstream, in milliseconds above 0. One without a recent response is expected to be
 * as fast as the fastest, so that a slow one is tried again; without any, all are equal.
 */
function expectLatencies<T>(
  states: readonly State<T>[],
  kind: LatencyKind,
  nowMs: number,
): number[] {
  const measured = states.map(({ latencies }) => {
    const latency = latencies[kind]
    return latency !== null && nowMs - latency.atMs <= LATENCY_MS_MAX ? latency.ms : null
  })
  const known = measured.filter((ms) => ms !== null)
  const fastest = known.length === 0 ? 1 : Math.min(...known)
  return measured.map((ms) => Math.max(1, ms ?? fastest))
}

/** Failures of an upstream that a model may let be tried again, although it may have processed the request. */
export const RETRIED_CODES = [
  'upstream_unreachable',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_rate_limited',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[]

/** When a request is sent again. */
export interface RetryPolicy {
  /** Tries after the first one, from 0. */
  readonly retriesMax: number
  /** Milliseconds from the first try in which the last one must begin. */
  readonly withinMs: number
  /** Failures after which it is sent again, besides those where the request was certainly not processed. */
  readonly codes: readonly ErrorCode[]
}

export const USUAL_RETRIES: RetryPolicy = { retriesMax: 2, withinMs: 10_000, codes: [] }

/** Waits are uniformly random from 0 to this, which doubles with each try. */
const WAIT_MS = 200
/** If an upstream asks for a longer wait, the client decides whether to retry. */
export const RETRY_AFTER_S_MAX = 5

/** A failure after which another try may help. */
export class TryFailure extends Error {
  readonly error: ApiError
  /** The wait that the upstream asks for, or null. */
  readonly afterMs: number | null
  constructor(error: ApiError, afterMs: number | null = null) {
    super(error.message, { cause: error })
    this.name = 'TryFailure'
    this.error = error
    this.afterMs = afterMs
  }
}

/** Time and randomness, so that tests can control them. */
export interface RetryClock {
  /** Milliseconds. */
  nowMs(): number
  /** 0 to below 1. */
  random(): number
  /** @throws the reason of the signal, as soon as it aborts */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

interface RetryOptions {
  readonly policy: RetryPolicy
  readonly clock: RetryClock
  readonly signal: AbortSignal
  /** Whether the next try goes to another upstream, so that no wait is needed. */
  readonly hasOther: () => boolean
}

/**
 * Returns the result of the first try that succeeds.
 *
 * @param attempt - throws a TryFailure if another try may help
 * @throws ApiError of the last try, with `x-should-retry: false` after more than one; else what `attempt`
 * throws
 *
 * Spec: §8 (no limits of an upstream are shown).
 * Choice: client libraries retry, too; after retries of our own they are told not to, or one request would
 * become nine.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { policy, clock, signal, hasOther }: RetryOptions,
): Promise<T> {
  const deadline = clock.nowMs() + policy.withinMs
  for (let tryCount = 1; ; tryCount++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof TryFailure)) throw tryCount > 1 ? withoutRetries(error) : error
      const drawn = clock.random() * WAIT_MS * 2 ** (tryCount - 1)
      const waitMs = hasOther() ? 0 : (error.afterMs ?? 0) + drawn
      if (tryCount > policy.retriesMax || clock.nowMs() + waitMs > deadline) {
        throw tryCount > 1 ? withoutRetries(error.error) : error.error
      }
      if (waitMs > 0) await clock.sleep(waitMs, signal)
    }
  }
}

/** Marks errors of an upstream as retried; other errors pass unchanged. */
function withoutRetries(error: unknown): unknown {
  const isUpstreams = error instanceof ApiError && error.code.startsWith('upstream_')
  return isUpstreams ? withoutClientRetries(error) : error
}

/** The real clock. */
export const SYSTEM_CLOCK: RetryClock = {
  nowMs: () => performance.now(),
  random: Math.random,
  async sleep(ms, signal) {
    // The timer's promise rejects with its own error, not with the signal's reason.
    await setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
  },
}
