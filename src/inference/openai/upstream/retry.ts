/** The one retry loop: repeats requests that may be sent again, a few times and within a bounded time. */
import { setTimeout } from 'node:timers/promises'
import { ApiError } from '../../../errors.ts'
import { withoutClientRetries } from '../../models/fallbacks.ts'

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
