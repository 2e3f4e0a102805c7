/**
 * Threads that serve requests: guarded start, correlated requests and replies, cancel flags, and an end.
 *
 * Why they are guarded: Node 24 aborts the whole process when a thread is terminated while it loads the native library
 * of SQLite ("Error::New napi_get_last_error_info"), or after zstdCompressSync or zstdDecompressSync has created its
 * handle and before it has used it ("close before init"). The exit of the process terminates its threads, too. So a
 * thread sets a flag during such work, and its owner waits for the flag to clear, which takes milliseconds.
 */
import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads'
import { type FromThread, type OpenServer, replyTo, type ThreadCall } from './serve-thread.ts'
import { toReplyError } from './thread-failure.ts'
import { ENDING, INSIDE } from './whole-work.ts'

/** Limit: the wait for one thread, milliseconds. */
const LEAVE_MS_MAX = 2000
const FLAGS = 2
const FLAG_BYTES = Int32Array.BYTES_PER_ELEMENT

export interface ThreadOptions<Notice> {
  readonly name?: string
  /** Its `workerData`; plain. */
  readonly data?: object
  readonly memory?: ResourceLimits
  /** Whether the thread gets the environment of the process; default true. */
  readonly hasEnv?: boolean
  /** Whether the process may end while the thread runs; default false. */
  readonly isUnref?: boolean
  onNotice?(notice: Notice): void
  /** Called once when the thread has ended without having been closed. Its calls have been rejected. */
  onLost?(lost: ThreadLostError): void
}

interface CallOptions {
  /** Sets the flag of the call when it aborts; the call settles when the thread has replied. */
  readonly signal?: AbortSignal
  readonly transfer?: readonly Transferable[]
}

export interface Thread<Request, Reply> {
  /**
   * Calls of one turn of the event loop are sent in one message.
   *
   * @throws ThreadLostError when the thread ends before it replies; the ApiError of the thread's side, internal_error for
   * any other of its errors
   */
  call(request: Request, options?: CallOptions): Promise<Reply>
  /**
   * Asks the thread to end, and terminates it when it has not ended in time. Does not wait for the end of a terminated
   * one: a system call may block it for any time.
   */
  close(waitMsMax: number): Promise<void>
  /** Terminates the thread, after the current work if that must not be interrupted. Its calls are rejected at once. */
  terminate(): void
}

/** The end of a thread, or what it died of. */
export class ThreadLostError extends Error {
  readonly isOutOfMemory: boolean
  /** Whether it ended with an error or an exit code other than 0. */
  readonly isCrash: boolean

  constructor(message: string, isCrash: boolean, cause?: Error) {
    super(message, { cause })
    this.name = 'ThreadLostError'
    this.isCrash = isCrash
    this.isOutOfMemory = (cause as NodeJS.ErrnoException)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
  }
}

/** The flags of all guarded threads that run. */
const running = new Set<Int32Array>()

/** Starts a thread whose entry calls serveThread. */
export function startThread<Request, Reply, Notice = never>(
  entry: URL,
  options: ThreadOptions<Notice> = {},
): Thread<Request, Reply> {
  const { name, data, memory, hasEnv = true, isUnref = false, onNotice, onLost } = options
  const wholeWork = new SharedArrayBuffer(FLAGS * FLAG_BYTES)
  const worker = new Worker(entry, {
    ...(name === undefined ? {} : { name }),
    ...(hasEnv ? {} : { env: {} }),
    ...(memory === undefined ? {} : { resourceLimits: memory }),
    workerData: { ...data, wholeWork },
  })
  const flags = new Int32Array(wholeWork)
  const calls = createCalls<Request, Reply>((list, transfer) => worker.postMessage(list, transfer))
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let isClosing = false

  function lose(lost: ThreadLostError): void {
    if (calls.fail(lost) && !isClosing) onLost?.(lost)
  }

  if (isUnref) worker.unref()
  guard(worker, flags)
  worker.on('message', (messages: readonly FromThread[]) => {
    for (const message of messages) {
      if ('notice' in message) onNotice?.(message.notice as Notice)
      else calls.settle(message)
    }
  })
  worker.on('error', (error) => lose(new ThreadLostError(String(error), true, error as Error)))
  worker.on('exit', (code) => {
    end()
    lose(new ThreadLostError('the thread has ended', code !== 0))
  })

  function terminate(): void {
    isClosing = true
    keepOut(flags)
    void worker.terminate()
    lose(new ThreadLostError('the thread was terminated', false))
    end()
  }

  return {
    call: calls.add,
    async close(waitMsMax) {
      isClosing = true
      calls.send()
      worker.postMessage(null)
      const timer = setTimeout(terminate, waitMsMax)
      await ended
      clearTimeout(timer)
    },
    terminate,
  }
}

/** Serves calls on the caller's own thread, with copies and errors as from another: for what only this thread may open. */
export function createInlineThread<Request, Reply, Notice = never>(
  open: OpenServer<Request, Reply, Notice>,
  { onNotice }: Pick<ThreadOptions<Notice>, 'onNotice'>,
): Thread<Request, Reply> {
  const server = open((notice) => onNotice?.(notice))
  return {
    async call(request) {
      const call = { id: 0, request: structuredClone(request) }
      const { value, ...failure } = await replyTo(server, call)
      const error = toReplyError(failure)
      if (error) throw error
      return structuredClone(value) as Reply
    },
    async close() {
      server.close?.()
    },
    terminate: () => undefined,
  }
}

interface PendingCall<Reply> extends PromiseWithResolvers<Reply> {
  settled(): void
}

/** The calls that have no reply yet. */
function createCalls<Request, Reply>(
  post: (calls: readonly ThreadCall<Request>[], transfer: readonly Transferable[]) => void,
) {
  const pending = new Map<number, PendingCall<Reply>>()
  let gathered: ThreadCall<Request>[] = []
  let transfers: Transferable[] = []
  let lost: ThreadLostError | null = null
  let lastId = 0

  function take(id: number): PendingCall<Reply> | undefined {
    const call = pending.get(id)
    pending.delete(id)
    call?.settled()
    return call
  }

  function send(): void {
    if (gathered.length === 0) return
    const [calls, transfer] = [gathered, transfers]
    gathered = []
    transfers = []
    try {
      if (lost === null) post(calls, transfer)
    } catch (error) {
      for (const { id } of calls) take(id)?.reject(error)
    }
  }

  return {
    send,
    add(request: Request, { signal, transfer = [] }: CallOptions = {}): Promise<Reply> {
      if (lost) return Promise.reject(lost)
      lastId += 1
      const flag = signal && cancelFlagOf(signal)
      const call = { ...Promise.withResolvers<Reply>(), settled: flag?.forget ?? (() => undefined) }
      pending.set(lastId, call)
      gathered.push({ id: lastId, request, ...(flag && { cancelled: flag.memory }) })
      transfers.push(...transfer)
      if (gathered.length === 1) setImmediate(send)
      return call.promise
    },
    settle({ id, value, ...failure }: Exclude<FromThread, { readonly notice: unknown }>): void {
      const call = take(id)
      const error = toReplyError(failure)
      if (error) call?.reject(error)
      else call?.resolve(value as Reply)
    },
    /** Rejects all calls, also later ones. @returns false when that was done before */
    fail(error: ThreadLostError): boolean {
      if (lost) return false
      lost = error
      for (const id of [...pending.keys()]) take(id)?.reject(error)
      return true
    },
  }
}

function cancelFlagOf(signal: AbortSignal) {
  const memory = new SharedArrayBuffer(FLAG_BYTES)
  const cancel = () => void Atomics.store(new Int32Array(memory), 0, 1)
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  return { memory, forget: () => signal.removeEventListener('abort', cancel) }
}

function guard(worker: Worker, flags: Int32Array): void {
  if (running.size === 0) process.on('exit', keepAllOut)
  running.add(flags)
  worker.on('exit', () => {
    running.delete(flags)
    if (running.size === 0) process.off('exit', keepAllOut)
  })
}

function keepAllOut(): void {
  running.forEach(keepOut)
}

/** Prevents a thread from starting such work, and waits until the current one is done. */
function keepOut(flags: Int32Array): void {
  Atomics.store(flags, ENDING, 1)
  Atomics.wait(flags, INSIDE, 1, LEAVE_MS_MAX)
}
