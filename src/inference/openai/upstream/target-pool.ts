/**
 * Chooses the upstream for a request: the least busy one that works. If none works, the request goes to the one
 * whose back-off ends first, since a failure there tells the client more than a rejection here.
 */
import type { UpstreamState } from '../../backend.ts'

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

  function choose(tried: ReadonlySet<number>): State<T> {
    if (states.length === 1) return states[0] as State<T>
    const now = nowMs()
    const penalty = (state: State<T>) =>
      (state.restsUntilMs > now ? 2 : 0) + (tried.has(state.number) ? 1 : 0)
    const load = ({ busyCount, weight }: State<T>) => (busyCount + 1) / weight
    const rest = ({ restsUntilMs }: State<T>) => Math.max(restsUntilMs - now, 0)
    const [best] = [...states].sort(
      (left, right) =>
        penalty(left) - penalty(right) ||
        rest(left) - rest(right) ||
        load(left) - load(right) ||
        left.lastTakenAt - right.lastTakenAt,
    )
    return best as State<T>
  }

  return {
    look: () =>
      states.map(({ value, number, busyCount, failureCount, restsUntilMs }) => {
        const restsMs = Math.max(restsUntilMs - nowMs(), 0)
        return { value, number, busyCount, failureCount, restsMs }
      }),
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
