/**
 * The server's end of the model's thread: starts it, hands out requests, brings back their pieces.
 * When the thread dies it must fail what was running and start another one.
 */
import { Worker } from 'node:worker_threads'
import { ApiError } from '../../errors.ts'
import type { Delta } from '../backend.ts'
import type { CompletionPlan } from './completion-plan.ts'
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
  /** Sends a request to the thread. @throws ApiError server_draining after `close` */
  open(plan: CompletionPlan): Run
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

/** One life of the thread. */
interface Life {
  readonly worker: Worker
  readonly ready: PromiseWithResolvers<void>
  isReady: boolean
}

/** A link to a thread that starts right away. */
export function createWorkerLink(script: URL, options: WorkerOptions): WorkerLink {
  const runs = new Map<number, PieceQueue>()
  let lastId = 0
  let isClosed = false
  let life: Life | null = null

  function start(): Life {
    // The thread gets no environment: secrets have no business there.
    const worker = new Worker(script, { workerData: options, env: {}, name: 'tiny' })
    const begun: Life = { worker, ready: Promise.withResolvers(), isReady: false }
    // Nobody may be waiting for it; a failure to load also fails each request.
    begun.ready.promise.catch(() => {})
    worker.on('message', (message: FromWorker) => receive(begun, message))
    worker.on('error', (error) => lose(begun, error))
    worker.on('exit', (code) => lose(begun, new Error(`the model's thread exited with ${code}`)))
    life = begun
    return begun
  }

  function receive(from: Life, message: FromWorker): void {
    if (message.type === 'ready') {
      from.isReady = true
      from.ready.resolve()
      return
    }
    const queue = runs.get(message.id)
    if (queue === undefined) return
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
    failAll(new ApiError(isClosed ? 'server_draining' : 'internal_error', { cause }))
    // Why: a model that cannot even be loaded would be started over and over.
    if (lost.isReady && !isClosed) start()
  }

  function failAll(error: ApiError): void {
    const queues = [...runs.values()]
    runs.clear()
    for (const queue of queues) queue.fail(error)
  }

  function open(plan: CompletionPlan): Run {
    if (isClosed) throw new ApiError('server_draining')
    const { worker } = life ?? start()
    const send = (message: ToWorker): void => worker.postMessage(message)
    const id = ++lastId
    const queue = createPieceQueue()
    let taken = 0
    runs.set(id, queue)
    send({ type: 'start', id, plan })
    return {
      async next() {
        const delta = await queue.next()
        if (delta !== null && ++taken % PIECES_PER_ACK === 0) {
          send({ type: 'ack', id, count: PIECES_PER_ACK })
        }
        return delta
      },
      cancel(reason) {
        queue.fail(reason)
        if (runs.delete(id)) send({ type: 'cancel', id })
      },
    }
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
      await life?.worker.terminate()
    },
  }
}
