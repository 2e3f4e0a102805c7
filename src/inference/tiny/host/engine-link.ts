/**
 * The server's side of the model's process: starts it, sends requests and receives their pieces. When the process dies,
 * it must fail the running requests and start another process.
 */
import { ApiError } from '../../../errors.ts'
import { fromPlainError } from '../plain-errors.ts'
import { type ChunkQueue, createChunkQueue } from './chunk-queue.ts'
import {
  CHUNKS_PER_ACK,
  type EngineOptions,
  type FromEngine,
  type ToEngine,
} from './engine-messages.ts'
import type { ChunkOf, EngineChunk, EnginePlan } from './engine-work.ts'
import { type ModelHost, startHost } from './model-host.ts'

/** The server's side of the model's process. */
export interface EngineLink {
  /** Resolves when the model is loaded; rejects with the reason when it cannot be. */
  ready(): Promise<void>
  /**
   * Sends a request to the process.
   *
   * @param owner - id of the key
   * @throws ApiError server_draining after `close`
   */
  open<P extends EnginePlan>(plan: P, owner: string): Run<ChunkOf<P>>
  /** Requests that have not ended. */
  runningCount(): number
  close(): Promise<void>
}

/** One request in the process. Its pieces are acknowledged when consumed. */
interface Run<Piece extends EngineChunk = EngineChunk> {
  next(): Promise<Piece | null>
  /** Ends the request, whether it is finished or not. A `next` under way throws the reason. */
  cancel(reason: unknown): void
}

/** One life of the process. */
interface Life {
  readonly host: ModelHost
  readonly ready: PromiseWithResolvers<void>
  isReady: boolean
}

/**
 * Creates a link and starts its process at once.
 *
 * @param toError - the error of the requests whose process died
 */
export function createEngineLink(
  script: URL,
  options: EngineOptions,
  toError = (cause: unknown) => new ApiError('internal_error', { cause }),
): EngineLink {
  const runs = new Map<number, ChunkQueue>()
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
    // There may be no waiter; a failure to load also fails each request.
    begun.ready.promise.catch(() => {})
    life = begun
    return begun
  }

  function receive(from: Life, message: FromEngine): void {
    if (message.type === 'ready') {
      from.isReady = true
      from.ready.resolve()
      return
    }
    if (message.type === 'unloadable') {
      from.ready.reject(new Error(message.reason))
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
    failAll(isClosed ? new ApiError('server_draining', { cause }) : toError(cause))
    // Why: a model that cannot even be loaded would be started over and over.
    if (lost.isReady && !isClosed) start()
  }

  function failAll(error: ApiError): void {
    const failed = [...runs.values()]
    runs.clear()
    for (const queue of failed) queue.fail(error)
  }

  const open: EngineLink['open'] = (plan, owner) => {
    if (isClosed) throw new ApiError('server_draining')
    const { host } = life ?? start()
    const send = (message: ToEngine): void => host.send(message)
    const id = ++lastId
    const queue = createChunkQueue()
    runs.set(id, queue)
    send({ type: 'start', id, plan, owner })
    const acknowledge = (count: number) => send({ type: 'ack', id, count })
    const cancel = () => {
      if (runs.delete(id)) send({ type: 'cancel', id })
    }
    // The messages of the process match the kind of the plan.
    return createRun(queue, { acknowledge, cancel }) as Run<ChunkOf<typeof plan>>
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
  queue: ChunkQueue,
  request: { readonly acknowledge: (count: number) => void; readonly cancel: () => void },
): Run {
  let taken = 0
  return {
    async next() {
      const delta = await queue.next()
      if (delta !== null && ++taken % CHUNKS_PER_ACK === 0) request.acknowledge(CHUNKS_PER_ACK)
      return delta
    },
    cancel(reason) {
      queue.fail(reason)
      request.cancel()
    },
  }
}
