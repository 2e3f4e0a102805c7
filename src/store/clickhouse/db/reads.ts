/** Reads of requests: a few at a time, the rest in a bounded queue in which keys and projects take turns. */
import { ApiError } from '../../../errors.ts'
import type { ReadCaller } from '../../api/read-caller.ts'
import { createFairQueue } from '../../sqlite/read/fair-queue.ts'
import type { ClickHouse, Parameters } from './client.ts'

export interface Reads {
  /** All rows. @throws ApiError as ClickHouse.read; server_overloaded when the queue is full; read_timeout in it */
  read<Found>(sql: string, parameters: Parameters, caller: ReadCaller): Promise<Found[]>
  /** The same in parts as they come; the place is kept until the last. */
  stream<Found>(
    sql: string,
    parameters: Parameters,
    caller: ReadCaller,
  ): AsyncIterable<readonly Found[]>
}

interface ReadLimits {
  /** Reads that run at once. */
  readonly running: number
  /** Reads that may wait. */
  readonly queueMax: number
  /** How long one may wait. */
  readonly waitMsMax: number
}

interface Waiting {
  readonly keyId: string
  readonly project_id: string
  enter(): void
}

export function createReads(
  db: ClickHouse,
  { running: runningMax, queueMax, waitMsMax }: ReadLimits,
): Reads {
  const waiting = createFairQueue<Waiting>()
  let running = 0

  function leave(): void {
    const next = waiting.take()
    if (next) next.enter()
    else running -= 1
  }

  async function enter({ keyId, project_id, signal }: ReadCaller): Promise<void> {
    if (running < runningMax) {
      running += 1
      return
    }
    if (waiting.size() >= queueMax) throw new ApiError('server_overloaded', { retryAfterS: 1 })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const item: Waiting = { keyId, project_id, enter: resolve }
    const leaveWith = (error: ApiError) => {
      waiting.remove(item)
      reject(error)
    }
    const onAbort = () => {
      const { reason } = signal
      leaveWith(reason instanceof ApiError ? reason : new ApiError('client_closed_request'))
    }
    const timer = setTimeout(() => leaveWith(new ApiError('read_timeout')), waitMsMax)
    waiting.push(item)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  return {
    async read<Found>(sql: string, parameters: Parameters, caller: ReadCaller) {
      await enter(caller)
      try {
        return await db.read<Found>(sql, parameters, caller.signal)
      } finally {
        leave()
      }
    },
    async *stream<Found>(sql: string, parameters: Parameters, caller: ReadCaller) {
      await enter(caller)
      try {
        yield* db.stream<Found>(sql, parameters, caller)
      } finally {
        leave()
      }
    },
  }
}
