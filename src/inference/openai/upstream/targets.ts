/**
 * Chooses the upstream for a request, the least busy one that works, and repeats requests that may be sent again a few
 * times within a bounded time. If none works, the request goes to the one whose back-off ends first, since a failure
 * there tells the client more than a rejection here.
 */
import { setTimeout } from 'node:timers/promises'
import { ApiError } from '../../../errors.ts'
import type { UpstreamState } from '../../backend.ts'
import { withoutClientRetries } from './errors.ts'

/** Limits of the back-off of a failing upstream, in milliseconds; doubled with each consecutive failure. */
const COOLDOWN_MS_MIN = 1_000
const COOLDOWN_MS_MAX = 60_000

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
  /** Notes that the upstream answers, which clears its failures. */
  succeed(): void
  /** Notes that the upstream failed or asked for a back-off. */
  fail(options?: { readonly restMs?: number }): void
  /** Notes that the request has ended there. Idempotent. */
  end(): void
}

/** An upstream and its state. */
type TargetLook<T> = Omit<UpstreamState, 'address'> & { readonly value: T }

export interface TargetPool<T> {
  look(): TargetLook<T>[]
  /** @param tried - numbers of upstreams to avoid if there are others */
  take(tried: ReadonlySet<number>): TargetUse<T>
  /** Whether there is a working upstream that the request has not tried. */
  hasFresh(tried: ReadonlySet<number>): boolean
}

interface State<T> extends Weighted<T> {
  readonly number: number
  busyCount: number
  failureCount: number
  restsUntilMs: number
  lastTakenAt: number
}

/**
 * @param targets - at least one
 * @param nowMs - a clock in milliseconds
 */
export function createTargetPool<T>(
  targets: readonly Weighted<T>[],
  nowMs: () => number,
): TargetPool<T> {
  let takenCount = 0
  const states = targets.map(
    (target, index): State<T> => ({
      ...target,
      number: index + 1,
      busyCount: 0,
      failureCount: 0,
      restsUntilMs: 0,
      lastTakenAt: 0,
    }),
  )

  /** Returns the upstreams, the best one for a request first. */
  function sort(tried: ReadonlySet<number>): State<T>[] {
    const now = nowMs()
    const penalty = (state: State<T>) =>
      (state.restsUntilMs > now ? 2 : 0) + (tried.has(state.number) ? 1 : 0)
    const load = ({ busyCount, weight }: State<T>) => (busyCount + 1) / weight
    const rest = ({ restsUntilMs }: State<T>) => Math.max(restsUntilMs - now, 0)
    return [...states].sort(
      (left, right) =>
        penalty(left) - penalty(right) ||
        rest(left) - rest(right) ||
        load(left) - load(right) ||
        left.lastTakenAt - right.lastTakenAt,
    )
  }

  function choose(tried: ReadonlySet<number>): State<T> {
    return (states.length === 1 ? states[0] : sort(tried)[0]) as State<T>
  }

  return {
    look() {
      const sorted = sort(new Set())
      return states.map((state) => {
        const { value, number, weight, busyCount, failureCount, restsUntilMs } = state
        const restsMs = Math.max(restsUntilMs - nowMs(), 0)
        const rank = sorted.indexOf(state)
        return { value, number, weight, rank, busyCount, failureCount, restsMs }
      })
    },
    hasFresh: (tried) =>
      states.some(({ number, restsUntilMs }) => !tried.has(number) && restsUntilMs <= nowMs()),
    take(tried) {
      const state = choose(tried)
      state.busyCount += 1
      takenCount += 1
      state.lastTakenAt = takenCount
      let isEnded = false
      return {
        value: state.value,
        number: state.number,
        succeed() {
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

/** Limits: tries of one request, and the time in which the last of them must begin. */
export const TRIES_MAX = 3
const BUDGET_MS = 10_000
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
  { clock, signal, hasOther }: RetryOptions,
): Promise<T> {
  const deadline = clock.nowMs() + BUDGET_MS
  for (let tryCount = 1; ; tryCount++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof TryFailure)) throw tryCount > 1 ? withoutRetries(error) : error
      const drawn = clock.random() * WAIT_MS * 2 ** (tryCount - 1)
      const waitMs = hasOther() ? 0 : (error.afterMs ?? 0) + drawn
      if (tryCount === TRIES_MAX || clock.nowMs() + waitMs > deadline) {
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
