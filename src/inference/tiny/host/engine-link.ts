/**
 * The server's side of the model's process: starts it, sends requests and receives their chunks. When the process dies,
 * it must fail the running requests and start another process.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ApiError } from '../../../errors.ts'
import { fromPlainError } from '../plain-errors.ts'
import {
  CHUNKS_PER_ACK,
  type EngineOptions,
  type FromEngine,
  type ToEngine,
} from './engine-messages.ts'
import type { ChunkOf, EngineChunk, EnginePlan } from './engine-work.ts'

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

/** One request in the process. Its chunks are acknowledged when consumed. */
interface Run<Piece extends EngineChunk = EngineChunk> {
  /** The next chunk, null after the last one. Must not be called again before it has settled. */
  next(): Promise<Piece | null>
  /** Ends the request, whether it is finished or not. A `next` under way throws the reason. */
  cancel(reason: unknown): void
}

/** A running process; it reports its end once. */
interface ModelProcess {
  send(message: ToEngine): void
  /** Ends it at once, whatever it is doing. */
  end(): Promise<void>
}

/** What a process reports. */
interface ProcessListener {
  onMessages(messages: readonly FromEngine[]): void
  /** The process has ended, but not because of `end`. */
  onLost(cause: unknown): void
}

/** The process's end of a run. */
interface RunQueue extends Run {
  push(chunk: EngineChunk): void
  /** No more chunks will come; those that are there can still be taken. */
  end(): void
  /** Drops what is there: every `next` throws the reason. Too late once all was taken. */
  fail(reason: unknown): void
}

type State = { readonly type: 'open' | 'ended' } | { readonly type: 'failed'; reason: unknown }

/** Limit: what a template and the model's texts need at the most, with much to spare. */
const HEAP_MB_MAX = 96

/** Where the server keeps compiled code, if it does; Node adds a folder for its version. */
const COMPILED = getCompileCacheDir()
/** With compiled code a start takes 0.2 s of the processor instead of 0.5. */
const ENVIRONMENT = COMPILED === undefined ? {} : { NODE_COMPILE_CACHE: dirname(COMPILED) }

/** One life of the process. */
interface Life {
  readonly process: ModelProcess
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
  const runs = new Map<number, RunQueue>()
  let lastId = 0
  let isClosed = false
  let life: Life | null = null

  function start(): Life {
    const begun: Life = {
      process: startProcess(script, options, {
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
    const { process } = life ?? start()
    const send = (message: ToEngine): void => process.send(message)
    const id = ++lastId
    const queue = createRunQueue({
      acknowledge: (count) => send({ type: 'ack', id, count }),
      cancel: () => {
        if (runs.delete(id)) send({ type: 'cancel', id })
      },
    })
    runs.set(id, queue)
    send({ type: 'start', id, plan, owner })
    // The messages of the process match the kind of the plan.
    return queue as Run<ChunkOf<typeof plan>>
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
      await life?.process.end()
    },
  }
}

/** An empty queue for one consumer. Its size is bounded by what the process may send ahead. */
function createRunQueue(request: {
  readonly acknowledge: (count: number) => void
  readonly cancel: () => void
}): RunQueue {
  let chunks: EngineChunk[] = []
  let state: State = { type: 'open' }
  let changed = Promise.withResolvers<void>()
  let taken = 0

  function change(next: State): void {
    state = next
    changed.resolve()
    changed = Promise.withResolvers()
  }

  function fail(reason: unknown): void {
    if (state.type === 'failed' || (state.type === 'ended' && chunks.length === 0)) return
    chunks = []
    change({ type: 'failed', reason })
  }

  return {
    push(chunk) {
      if (state.type !== 'open') return
      chunks.push(chunk)
      change(state)
    },
    end() {
      if (state.type === 'open') change({ type: 'ended' })
    },
    fail,
    async next() {
      while (state.type === 'open' && chunks.length === 0) await changed.promise
      if (state.type === 'failed') throw state.reason
      const chunk = chunks.shift() ?? null
      if (chunk !== null && ++taken % CHUNKS_PER_ACK === 0) request.acknowledge(CHUNKS_PER_ACK)
      return chunk
    },
    cancel(reason) {
      fail(reason)
      request.cancel()
    },
  }
}

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/**
 * Starts a process for a script. Unlike a thread, it can loop or run out of memory without ending the server. Its
 * environment has only the folder of the compile cache, and so no secrets.
 */
function startProcess(
  script: URL,
  options: EngineOptions,
  listener: ProcessListener,
): ModelProcess {
  const child = fork(fileURLToPath(script), [JSON.stringify(options)], {
    env: ENVIRONMENT,
    execArgv: [`--max-old-space-size=${HEAP_MB_MAX}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  children.add(child)
  child.on('message', (messages) => listener.onMessages(messages as FromEngine[]))
  child.on('error', listener.onLost)
  child.on('exit', (code, signal) => {
    children.delete(child)
    resolve()
    listener.onLost(new Error(`the model's process ended with ${code ?? signal}`))
  })
  return {
    // A process that is just ending does not read its messages.
    send: (message) => void child.send(message, () => {}),
    async end() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
