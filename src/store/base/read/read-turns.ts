/** Limits concurrent reads of other databases: the rest wait in a bounded queue, where keys and projects take turns. */
import { type ReadCaller, toClientClosedError } from '../../../domain/access/read-caller.ts'
import { ApiError } from '../../../errors.ts'
import { createFairQueue } from '../../../threads/fair-queue.ts'
import type { ReadMetrics } from '../../api/metrics.ts'

export interface ReadTurnLimits {
  /** Reads that run at once. */
  readonly running: number
  /** Reads that may wait. */
  readonly queueMax: number
  /** How long a read may wait, milliseconds. */
  readonly waitMsMax: number
}

interface ReadTurns {
  /**
   * Waits for a turn, which `leave` ends.
   *
   * @throws ApiError server_overloaded, read_timeout, client_closed_request or the signal's reason
   */
  enter(caller: ReadCaller): Promise<void>
  leave(): void
  figures(): Omit<ReadMetrics, 'kind'>
}

interface Waiting {
  readonly keyId: string
  readonly project_id: string
  enter(): void
}

export function createReadTurns(limits: ReadTurnLimits): ReadTurns {
  const { running: runningMax, queueMax, waitMsMax } = limits
  const waiting = createFairQueue<Waiting>()
  let running = 0
  let refused = 0

  return {
    async enter({ keyId, project_id, signal }) {
      if (running < runningMax) {
        running += 1
        return
      }
      if (waiting.size() >= queueMax) {
        refused += 1
        throw new ApiError('server_overloaded', { retryAfterS: 1 })
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const item: Waiting = { keyId, project_id, enter: resolve }
      const leaveWith = (error: ApiError) => {
        waiting.remove(item)
        reject(error)
      }
      const onAbort = () => leaveWith(toClientClosedError(signal))
      const timer = setTimeout(() => leaveWith(new ApiError('read_timeout')), waitMsMax)
      waiting.push(item)
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        await promise
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
    },
    leave() {
      const next = waiting.take()
      if (next) next.enter()
      else running -= 1
    },
    figures: () => ({ running, waiting: waiting.size(), refused }),
  }
}
