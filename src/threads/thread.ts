/**
 * Threads that use SQLite and zstd and can be terminated.
 *
 * Why: Node 24 aborts the whole process when a thread is terminated while it loads the native library of SQLite
 * ("Error::New napi_get_last_error_info"), or after zstdCompressSync or zstdDecompressSync has created its handle and
 * before it has used it ("close before init"). The exit of the process terminates its threads, too. So a thread sets a
 * flag during such work, and its owner waits for the flag to clear, which takes milliseconds.
 */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { ENDING, INSIDE } from './whole-work.ts'

/** Limit: the wait for one thread, milliseconds. */
const LEAVE_MS_MAX = 2000
const WORDS = 2

export interface GuardedThread {
  readonly worker: Worker
  /** Terminates the thread, after the current work if that must not be interrupted. */
  endByForce(): void
}

const running = new Set<Int32Array>()

/** Starts a thread and adds the shared memory to its `workerData`. */
export function startGuardedThread(
  file: URL,
  { workerData, ...options }: WorkerOptions,
): GuardedThread {
  const wholeWork = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)
  const worker = new Worker(file, { ...options, workerData: { ...workerData, wholeWork } })
  const words = new Int32Array(wholeWork)
  if (running.size === 0) process.on('exit', keepAllOut)
  running.add(words)
  worker.on('exit', () => {
    running.delete(words)
    if (running.size === 0) process.off('exit', keepAllOut)
  })
  return {
    worker,
    endByForce() {
      keepOut(words)
      void worker.terminate()
    },
  }
}

function keepAllOut(): void {
  running.forEach(keepOut)
}

/** Prevents a thread from starting such work, and waits until the current one is done. */
function keepOut(words: Int32Array): void {
  Atomics.store(words, ENDING, 1)
  Atomics.wait(words, INSIDE, 1, LEAVE_MS_MAX)
}
