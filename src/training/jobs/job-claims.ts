/**
 * Workers that wait for jobs, and the clock of the queue. The queue tells when this process has
 * changed it, and a timer rings when the next lease, backoff or timeout ends, or to look for what another process did.
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

/** Limit: workers that wait at the same time; each change of the queue asks for all of them. */
const CLAIM_WAITERS_MAX = 256
/** The timer looks at least this often, so that a clock that was set is noticed soon. */
const LOOK_MS_MAX = 30_000
/** While workers wait it looks this often, since nothing tells what another process has queued. */
const WAITING_LOOK_MS_MAX = 5_000
/** Wait before the timer tries again when the store failed. */
const FAULT_MS = 1_000
const US_PER_MS = 1000

interface QueueSettings {
  /** Time that a worker has from one heartbeat to the next. */
  readonly leaseMs: number
  /** Time that an attempt has in all. */
  readonly wallMs: number
  /** A job that could have run for this long has failed; 0: never. */
  readonly queueTimeoutMs: number
  /** Wait before another attempt; doubles with each. */
  readonly retryMs: number
}

export interface JobClaimsOptions {
  readonly queue: TrainingQueue
  readonly settings: QueueSettings
  readonly clock: Clock
  /** Called with what the timer could not do; it tries again. */
  onFault(error: unknown): void
}

/** A claim without its times. */
type Wanted = Omit<Claim, 'times' | 'lease_ms' | 'wall_ms'>

export interface JobClaims {
  /** The times of a move that happens at this moment. */
  times(): QueueTimes
  /**
   * Claims a job, or waits for one.
   *
   * @param signal - aborted when the worker has left or the server stops; a job that comes at the same
   * moment is released
   * @returns null when none came in time, or the signal aborted
   * @throws ApiError server_overloaded when too many wait, and what the queue throws
   */
  claim(wanted: Wanted, waitMs: number, signal: AbortSignal): Promise<ClaimedJob | null>
  /** Resolves when the leases in the rows are those of the clock as it is now. @throws what the queue throws */
  settle(): Promise<void>
  /** Gives running jobs whole leases and starts the timer. */
  start(): Promise<void>
  /** Ends the timer and all waits. */
  close(): void
}

interface Waiter {
  readonly wanted: Wanted
  isGone: boolean
  /** Ends the wait. */
  settle(claimed: ClaimedJob | null, error?: unknown): void
}

export function createJobClaims(options: JobClaimsOptions): JobClaims {
  const { queue, settings, clock, onFault } = options
  const { nowUs } = clock
  const waiters = new Set<Waiter>()
  const leases = createLeaseClock({
    ...{ queue, clock, leaseMs: settings.leaseMs, onFault },
    onMoved: () => timer.arm(),
  })
  const { settle } = leases
  const timer = createQueueTimer(options, {
    ...{ times, settle, onRing: () => void serve() },
    lookMsMax: () => (waiters.size > 0 ? WAITING_LOOK_MS_MAX : LOOK_MS_MAX),
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

  /** Gives back a job that nobody waits for any more. */
  async function giveBack({ job }: ClaimedJob): Promise<void> {
    const token_hash = job.lease_token_hash ?? ''
    await queue.releaseJob({ job_id: job.id, token_hash, now_us: nowUs() })
  }

  async function serveOne(waiter: Waiter): Promise<void> {
    try {
      const claimed = await claimNow(waiter.wanted)
      if (claimed === null) return
      if (waiter.isGone) await giveBack(claimed)
      else waiter.settle(claimed)
    } catch (error) {
      waiter.settle(null, error)
    }
  }

  /** Asks for all waiters in the order in which they came, until nothing has changed meanwhile. */
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

  function wait(wanted: Wanted, waitMs: number, signal: AbortSignal): Promise<ClaimedJob | null> {
    if (waiters.size >= CLAIM_WAITERS_MAX) {
      return Promise.reject(new ApiError('server_overloaded', { retryAfterS: 5 }))
    }
    const { waiter, claimed } = openWaiter(wanted, waitMs, signal)
    waiters.add(waiter)
    timer.arm()
    // A job may have come while the first look was on its way.
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
    async claim(wanted, waitMs, signal) {
      let claimed = await claimNow(wanted)
      if (claimed === null && waitMs > 0 && !signal.aborted) {
        claimed = await wait(wanted, waitMs, signal)
      }
      if (claimed === null || !signal.aborted) return claimed
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

/** A wait that ends with a job, in time, or with the signal. */
function openWaiter(wanted: Wanted, waitMs: number, signal: AbortSignal) {
  const { promise: claimed, resolve, reject } = Promise.withResolvers<ClaimedJob | null>()
  const leave = () => waiter.settle(null)
  const timeout = setTimeout(leave, waitMs)
  const waiter: Waiter = {
    wanted,
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
  /** The longest time from one look to the next. */
  readonly lookMsMax: () => number
  /** Called after each look. */
  readonly onRing: () => void
}

/** Ends what is overdue at the moment it falls due. */
function createQueueTimer(
  { queue, settings, clock: { nowUs }, onFault }: JobClaimsOptions,
  { times, settle, lookMsMax, onRing }: QueueTimerParts,
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
      onRing()
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
      const dueMs = due_us === null ? LOOK_MS_MAX : Math.ceil((due_us - now_us) / US_PER_MS) + 1
      ringIn(Math.min(Math.max(dueMs, 1), lookMsMax()))
    } catch (error) {
      if (isClosed) return
      onFault(error)
      ringIn(FAULT_MS)
    }
  }

  /** Sets the timer anew, once for all changes of a turn. */
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
