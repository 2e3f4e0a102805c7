/**
 * The server's end of the model's thread: starts it, hands out requests, brings back their pieces.
 * When the thread dies it must fail what was running and start another one.
 */
import { ApiError } from '../../../errors.ts'
import type { Delta } from '../../backend.ts'
import type { CompletionPlan } from '../sampling/completion-plan.ts'
import { type ModelHost, type StartHost, startThread } from './model-host.ts'
import { createPieceQueue, type PieceQueue } from './piece-queue.ts'
import {
  type FromWorker,
  fromPlainError,
  PIECES_PER_ACK,
  type ToWorker,
  type WorkerOptions,
} from './worker-messages.ts'

/** The server's side of the model's thread. */
export interface WorkerLink {
  /** Resolves when the model is loaded; rejects with the reason when it cannot be. */
  ready(): Promise<void>
  /**
   * Sends a request to the thread.
   *
   * @param onSign - called with every sign of life that the request gives
   * @throws ApiError server_draining after `close`
   */
  open(plan: CompletionPlan, onSign?: () => void): Run
  /** Requests that have not ended. */
  runningCount(): number
  close(): Promise<void>
}

/** One request in the thread. Its pieces are acknowledged as they are taken. */
export interface Run {
  next(): Promise<Delta | null>
  /** Ends the request, whether it is finished or not. A `next` under way throws the reason. */
  cancel(reason: unknown): void
}

/** The thread or process died under its requests. */
export class HostLostError extends Error {
  constructor(cause: unknown) {
    super('the model is gone', { cause })
    this.name = 'HostLostError'
  }
}

/** One life of the thread. */
interface Life {
  readonly host: ModelHost
  readonly ready: PromiseWithResolvers<void>
  isReady: boolean
}

/**
 * A link to a host that starts right away: a thread unless another one is asked for.
 */
export function createWorkerLink(
  script: URL,
  options: WorkerOptions,
  startHost: StartHost = startThread,
): WorkerLink {
  const runs = new Map<number, { readonly queue: PieceQueue; readonly onSign: () => void }>()
  let lastId = 0
  let isClosed = false
  let life: Life | null = null

  function start(): Life {
    const begun: Life = {
      host: startHost(script, options, {
        onMessages: (messages) => {
          for (const message of messages) receive(begun, message)
        },
        onLost: (cause) => lose(begun, cause),
      }),
      ready: Promise.withResolvers(),
      isReady: false,
    }
    // Nobody may be waiting for it; a failure to load also fails each request.
    begun.ready.promise.catch(() => {})
    life = begun
    return begun
  }

  function receive(from: Life, message: FromWorker): void {
    if (message.type === 'ready') {
      from.isReady = true
      from.ready.resolve()
      return
    }
    const run = runs.get(message.id)
    if (run === undefined) return
    const { queue, onSign } = run
    onSign()
    if (message.type === 'beat') return
    if (message.type === 'delta') {
      queue.push(message.delta)
      return
    }
    runs.delete(message.id)
    if (message.type === 'done') queue.end()
    else queue.fail(fromPlainError(message.error))
  }

  function lose(lost: Life, cause: unknown): void {
    if (life !== lost) return
    life = null
    lost.ready.reject(cause)
    const error = new HostLostError(cause)
    failAll(new ApiError(isClosed ? 'server_draining' : 'internal_error', { cause: error }))
    // Why: a model that cannot even be loaded would be started over and over.
    if (lost.isReady && !isClosed) start()
  }

  function failAll(error: ApiError): void {
    const failed = [...runs.values()]
    runs.clear()
    for (const { queue } of failed) queue.fail(error)
  }

  function open(plan: CompletionPlan, onSign: () => void = () => {}): Run {
    if (isClosed) throw new ApiError('server_draining')
    const { host } = life ?? start()
    const send = (message: ToWorker): void => host.send(message)
    const id = ++lastId
    const queue = createPieceQueue()
    runs.set(id, { queue, onSign })
    send({ type: 'start', id, plan })
    return createRun(queue, {
      acknowledge: (count) => send({ type: 'ack', id, count }),
      cancel: () => {
        if (runs.delete(id)) send({ type: 'cancel', id })
      },
    })
  }

  start()
  return {
    async ready() {
      if (isClosed) throw new ApiError('server_draining')
      await (life ?? start()).ready.promise
    },
    open,
    runningCount: () => runs.size,
    async close() {
      isClosed = true
      failAll(new ApiError('server_draining'))
      await life?.host.end()
    },
  }
}

/** The consumer's end of one request. */
function createRun(
  queue: PieceQueue,
  request: { readonly acknowledge: (count: number) => void; readonly cancel: () => void },
): Run {
  let taken = 0
  return {
    async next() {
      const delta = await queue.next()
      if (delta !== null && ++taken % PIECES_PER_ACK === 0) request.acknowledge(PIECES_PER_ACK)
      return delta
    },
    cancel(reason) {
      queue.fail(reason)
      request.cancel()
    },
  }
}
