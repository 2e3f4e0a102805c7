/** Limits concurrent work: the rest waits in a bounded queue, where keys and projects take turns. */
import { ApiError, toClientClosedError } from '../errors.ts'
import { createFairQueue, type Share } from './fair-queue.ts'

export interface TurnLimits {
  /** Turns that run at once. */
  readonly slots: number
  /** Turns that may wait. */
  readonly queueMax: number
  /** How long one may wait, milliseconds; default: any time. */
  readonly waitMsMax?: number
}

interface Entrant extends Share {
  readonly signal?: AbortSignal
}

interface Turns {
  /**
   * Waits for a turn.
   *
   * @returns a function that ends it, to be called once
   * @throws ApiError server_overloaded when the queue is full, read_timeout, server_draining after close;
   * client_closed_request or the signal's reason when it aborts during the wait
   */
  enter(entrant: Entrant): Promise<() => void>
  /** Refuses what waits and comes later. */
  close(): void
  figures(): { readonly running: number; readonly waiting: number; readonly refused: number }
}

interface Waiting extends Share {
  settle(error?: ApiError): void
}

export function createTurns({ slots, queueMax, waitMsMax }: TurnLimits): Turns {
  const waiting = createFairQueue<Waiting>()
  let running = 0
  let refused = 0
  let isClosed = false

  function leave(): void {
    const next = waiting.take()
    if (next) next.settle()
    else running -= 1
  }

  async function wait({ keyId, project_id, signal }: Entrant): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const settle = (error?: ApiError) => (error ? reject(error) : resolve())
    const item: Waiting = { keyId, project_id, settle }
    const giveUp = (error: ApiError) => {
      waiting.remove(item)
      reject(error)
    }
    const onAbort = () => signal && giveUp(toClientClosedError(signal))
    const timer = waitMsMax && setTimeout(() => giveUp(new ApiError('read_timeout')), waitMsMax)
    waiting.push(item)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  return {
    async enter(entrant) {
      if (isClosed) throw new ApiError('server_draining')
      if (running < slots) running += 1
      else if (waiting.size() < queueMax) await wait(entrant)
      else {
        refused += 1
        throw new ApiError('server_overloaded', { retryAfterS: 1 })
      }
      return leave
    },
    close() {
      isClosed = true
      for (const { settle } of waiting.clear()) settle(new ApiError('server_draining'))
    },
    figures: () => ({ running, waiting: waiting.size(), refused }),
  }
}
