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

interface TurnOptions<Entrant> extends Omit<TurnLimits, 'slots'> {
  readonly slots?: number
  /** Limit: bytes of what waits; default: any number. */
  readonly queueBytesMax?: number
  /** Called when a turn could begin; returns false when there is no slot for it. Default: `slots` may run at once. */
  takeSlot?(entrant: Entrant): boolean
}

interface Entrant extends Share {
  readonly signal?: AbortSignal
  /** Its share of `queueBytesMax` while it waits; default 0. */
  readonly bytes?: number
}

interface Turns<Item extends Entrant> {
  /**
   * Waits for a turn. The longest line of a full queue gives way to a shorter one, except to what no queue can hold.
   *
   * @returns a function that ends the turn, to be called once
   * @throws ApiError server_overloaded when the queue is full, read_timeout, server_draining after close;
   * client_closed_request or the signal's reason when it aborts during the wait
   */
  enter(entrant: Item): Promise<() => void>
  /** Refuses what waits and comes later. */
  close(): void
  figures(): { readonly running: number; readonly waiting: number; readonly refused: number }
}

interface Waiting<Item> extends Share {
  readonly bytes: number
  readonly entrant: Item
  settle(error?: ApiError): void
}

export function createTurns<Item extends Entrant = Entrant>(
  options: TurnOptions<Item>,
): Turns<Item> {
  const { slots = 1, queueMax, queueBytesMax = Number.POSITIVE_INFINITY, waitMsMax } = options
  const takeSlot = options.takeSlot ?? (() => running < slots)
  const waiting = createFairQueue<Waiting<Item>>()
  let running = 0
  let refused = 0
  let isClosed = false

  function leave(): void {
    running -= 1
    while (true) {
      const next = waiting.take(({ entrant }) => takeSlot(entrant))
      if (!next) return
      running += 1
      next.settle()
    }
  }

  /** @throws ApiError server_overloaded */
  function makeRoom({ keyId, project_id, bytes = 0 }: Item): void {
    while (waiting.size() >= queueMax || waiting.bytes() + bytes > queueBytesMax) {
      refused += 1
      const error = new ApiError('server_overloaded', { retryAfterS: 1 })
      const last = bytes > queueBytesMax ? undefined : waiting.lastOfLonger({ keyId, project_id })
      if (!last) throw error
      waiting.remove(last)
      last.settle(error)
    }
  }

  async function wait(entrant: Item): Promise<void> {
    const { keyId, project_id, bytes = 0, signal } = entrant
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const settle = (error?: ApiError) => (error ? reject(error) : resolve())
    const item: Waiting<Item> = { keyId, project_id, bytes, entrant, settle }
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
      if (takeSlot(entrant)) running += 1
      else {
        makeRoom(entrant)
        await wait(entrant)
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
