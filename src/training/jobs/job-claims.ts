/**
 * Workers that wait for jobs, and the queue's timer. The queue reports changes made by this process. The
 * timer fires when the next lease, backoff or timeout ends, and to check for changes made by other processes.
 */
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type {
  Claim,
  ClaimedJob,
  QueueTimes,
  TrainingQueue,
} from '../../store/api/training/training-queue.ts'
import { createLeaseClock } from './lease-clock.ts'

/** Limit: workers that wait at the same time; each change of the queue tries a claim for all of them. */
const CLAIM_WAITERS_MAX = 256
/** Longest interval of the timer, so that a change of the system clock is noticed soon. */
const POLL_MS_MAX = 30_000
/** Longest interval while workers wait, since jobs queued by another process are not reported. */
const WAITING_POLL_MS_MAX = 5_000
/** Delay before the timer retries after the store failed. */
const FAULT_MS = 1_000
const US_PER_MS = 1000

interface QueueSettings {
  /** Maximum time between two heartbeats of a worker. */
  readonly leaseMs: number
  /** Maximum total time of an attempt. */
  readonly wallMs: number
  /** A job fails when it has been ready for this long without a worker; 0: never. */
  readonly queueTimeoutMs: number
  /** Wait before another attempt; doubles with each. */
  readonly retryMs: number
}

export interface JobClaimsOptions {
  readonly queue: TrainingQueue
  readonly settings: QueueSettings
  readonly clock: Clock
  /** Called with each error of the timer, which then retries. */
  onFault(error: unknown): void
}

/** A claim without its times. */
type Wanted = Omit<Claim, 'times' | 'lease_ms' | 'wall_ms'>

interface WaitingWorker {
  /** Aborted when the worker has disconnected or the server stops; a job claimed at the same time is released. */
  readonly signal: AbortSignal
  /** Whether it may still have a job: its key may be revoked while it waits. */
  readonly isAllowed: () => Promise<boolean>
}

export interface JobClaims {
  /** Returns the times for a state transition made now. */
  times(): QueueTimes
  /**
   * Claims a job, or waits for one.
   *
   * @returns null if there was none in time, or the signal aborted
   * @throws ApiError server_overloaded when too many wait, invalid_api_key, and what the queue throws
   */
  claim(wanted: Wanted, waitMs: number, worker: WaitingWorker): Promise<ClaimedJob | null>
  /** Resolves when the leases in the rows match the current clock. @throws what the queue throws */
  settle(): Promise<void>
  /** Renews the leases of running jobs in full and starts the timer. */
  start(): Promise<void>
  /** Stops the timer and ends all waits. */
  close(): void
}

interface Waiter {
  readonly wanted: Wanted
  readonly isAllowed: () => Promise<boolean>
  isGone: boolean
  /** Ends the wait. */
  settle(claimed: ClaimedJob | null, error?: unknown): void
}

export function createJobClaims(options: JobClaimsOptions): JobClaims {
  const { queue, settings, clock, onFault } = options
  const { nowUs } = clock
  const waiters = new Set<Waiter>()
  const onMoved = () => timer.arm()
  const leases = createLeaseClock({ queue, clock, leaseMs: settings.leaseMs, onMoved, onFault })
  const { settle } = leases
  const timer = createQueueTimer(options, {
    times,
    settle,
    onPoll: () => void serve(),
    pollMsMax: () => (waiters.size > 0 ? WAITING_POLL_MS_MAX : POLL_MS_MAX),
  })
  let isServing = false
  let hasChanged = false

  function times(): QueueTimes {
    const { retryMs: retry_ms, queueTimeoutMs: queue_timeout_ms } = settings
    return { now_us: nowUs(), retry_ms, queue_timeout_ms, chance: Math.random() }
  }

  async function claimNow(wanted: Wanted): Promise<ClaimedJob | null> {
    await settle()
    const { leaseMs: lease_ms, wallMs: wall_ms } = settings
    const claimed = await queue.claimJob({ ...wanted, lease_ms, wall_ms, times: times() })
    if (claimed) timer.arm()
    return claimed
  }

  /** Releases a job whose worker no longer waits. */
  async function giveBack({ job }: ClaimedJob): Promise<void> {
    const token_hash = job.lease_token_hash ?? ''
    await queue.releaseJob({ job_id: job.id, token_hash, now_us: nowUs() })
  }

  async function serveOne(waiter: Waiter): Promise<void> {
    try {
      if (!(await waiter.isAllowed())) throw new ApiError('invalid_api_key')
      const claimed = await claimNow(waiter.wanted)
      if (claimed === null) return
      if (waiter.isGone) await giveBack(claimed)
      else waiter.settle(claimed)
    } catch (error) {
      waiter.settle(null, error)
    }
  }

  /** Tries a claim for all waiters in order of arrival, and repeats if the queue changed in the meantime. */
  async function serve(): Promise<void> {
    hasChanged = true
    if (isServing) return
    isServing = true
    while (hasChanged) {
      hasChanged = false
      for (const waiter of waiters) if (!waiter.isGone) await serveOne(waiter)
    }
    isServing = false
  }

  function wait(wanted: Wanted, waitMs: number, worker: WaitingWorker): Promise<ClaimedJob | null> {
    if (waiters.size >= CLAIM_WAITERS_MAX) {
      return Promise.reject(new ApiError('server_overloaded', { retryAfterS: 5 }))
    }
    const { waiter, claimed } = openWaiter(wanted, waitMs, worker)
    waiters.add(waiter)
    timer.arm()
    // A job may have been queued during the first claim.
    void serve()
    return claimed.finally(() => waiters.delete(waiter))
  }

  const stopListening = queue.onChange(() => {
    timer.arm()
    if (waiters.size > 0) void serve()
  })

  return {
    times,
    settle,
    async claim(wanted, waitMs, worker) {
      let claimed = await claimNow(wanted)
      if (claimed === null && waitMs > 0 && !worker.signal.aborted) {
        claimed = await wait(wanted, waitMs, worker)
      }
      if (claimed === null || !worker.signal.aborted) return claimed
      await giveBack(claimed)
      return null
    },
    async start() {
      await queue.resumeLeases(nowUs(), settings.leaseMs, 0)
      timer.arm()
    },
    close() {
      stopListening()
      leases.close()
      timer.close()
      for (const waiter of waiters) waiter.settle(null)
    },
  }
}

/** Opens a wait that ends with a job, at the timeout, or with the signal. */
function openWaiter(wanted: Wanted, waitMs: number, { signal, isAllowed }: WaitingWorker) {
  const { promise: claimed, resolve, reject } = Promise.withResolvers<ClaimedJob | null>()
  const leave = () => waiter.settle(null)
  const timeout = setTimeout(leave, waitMs)
  const waiter: Waiter = {
    wanted,
    isAllowed,
    isGone: false,
    settle(job, error) {
      if (waiter.isGone) return
      waiter.isGone = true
      clearTimeout(timeout)
      signal.removeEventListener('abort', leave)
      if (error === undefined) resolve(job)
      else reject(error)
    },
  }
  signal.addEventListener('abort', leave)
  return { waiter, claimed }
}

interface QueueTimerParts {
  readonly times: () => QueueTimes
  readonly settle: () => Promise<void>
  /** Returns the longest time between two checks. */
  readonly pollMsMax: () => number
  /** Called after each check. */
  readonly onPoll: () => void
}

/** Creates the timer that ends leases and jobs as soon as they are overdue. */
function createQueueTimer(
  { queue, settings, clock: { nowUs }, onFault }: JobClaimsOptions,
  { times, settle, pollMsMax, onPoll }: QueueTimerParts,
) {
  let timeout: NodeJS.Timeout | undefined
  let isArming = false
  let isClosed = false

  function ringIn(ms: number): void {
    clearTimeout(timeout)
    if (!isClosed) timeout = setTimeout(() => void ring(), ms).unref()
  }

  async function ring(): Promise<void> {
    try {
      await settle()
      await queue.endOverdue(times())
      onPoll()
      arm()
    } catch (error) {
      if (isClosed) return
      onFault(error)
      ringIn(FAULT_MS)
    }
  }

  async function armNow(): Promise<void> {
    try {
      const now_us = nowUs()
      const due_us = await queue.nextDueUs(now_us, settings.queueTimeoutMs)
      const dueMs = due_us === null ? POLL_MS_MAX : Math.ceil((due_us - now_us) / US_PER_MS) + 1
      ringIn(Math.min(Math.max(dueMs, 1), pollMsMax()))
    } catch (error) {
      if (isClosed) return
      onFault(error)
      ringIn(FAULT_MS)
    }
  }

  /** Resets the timer, once for all changes in one turn of the event loop. */
  function arm(): void {
    if (isArming || isClosed) return
    isArming = true
    setImmediate(() => {
      isArming = false
      if (!isClosed) void armNow()
    })
  }

  return {
    arm,
    close() {
      isClosed = true
      clearTimeout(timeout)
    },
  }
}
