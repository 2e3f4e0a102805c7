/** The one retry loop: tries again what may be sent again, a few times, within a bounded time. */
import { setTimeout } from 'node:timers/promises'
import { ApiError } from '../../../errors.ts'
import { withoutClientRetries } from '../../models/fallbacks.ts'

/** Limits: tries of one request, and the time in which the last of them must begin. */
export const TRIES_MAX = 3
const BUDGET_MS = 10_000
/** Waits are drawn evenly from 0 to this, doubled per try. */
const WAIT_MS = 200
/** Longer waits that an upstream asks for are the client's to decide on. */
export const RETRY_AFTER_S_MAX = 5

/** A failure after which another try may help. */
export class TryFailure extends Error {
  readonly error: ApiError
  /** What the upstream asks to wait, or null. */
  readonly afterMs: number | null
  constructor(error: ApiError, afterMs: number | null = null) {
    super(error.message, { cause: error })
    this.name = 'TryFailure'
    this.error = error
    this.afterMs = afterMs
  }
}

/** Time and chance, so that tests can hold them. */
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
  /** Whether the next try meets another upstream, which need not be waited for. */
  readonly hasOther: () => boolean
}

/**
 * What the first try that succeeds gives.
 *
 * @param attempt - throws a TryFailure where another try may help
 * @throws ApiError of the last try, with `x-should-retry: false` after more than one; else what `attempt`
 * throws
 *
 * Spec: §8 (no limits of an upstream are shown).
 * Choice: client libraries try again too; after tries of our own they are told not to, or one request
 * would become nine.
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

/** Errors of an upstream say that they were tried; others pass. */
function withoutRetries(error: unknown): unknown {
  const isUpstreams = error instanceof ApiError && error.code.startsWith('upstream_')
  return isUpstreams ? withoutClientRetries(error) : error
}

/** The real clock. */
export const SYSTEM_CLOCK: RetryClock = {
  nowMs: () => performance.now(),
  random: Math.random,
  async sleep(ms, signal) {
    // The promise of the timer rejects with an error of its own.
    await setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
  },
}
