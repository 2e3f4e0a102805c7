/**
 * Threads that compress, and that can be ended by force.
 *
 * Why: Node 24 aborts the whole process ("close before init") when a thread is ended while zstdCompressSync or
 * zstdDecompressSync has made its handle and not yet used it; the end of the process ends its threads, too. So a thread says
 * when it is inside such work, and who ends it waits until it is out, for milliseconds.
 */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { ENDING, INSIDE } from './whole-work.ts'

/** Limit: the wait for one thread, milliseconds. */
const LEAVE_MS_MAX = 2000
const WORDS = 2

interface GuardedThread {
  readonly worker: Worker
  /** Ends the thread at once, or after a piece of work that must not be cut off. */
  endByForce(): void
}

const running = new Set<Int32Array>()

/** Starts a thread, to whose data the memory that it shares is added. */
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

/** Lets a thread begin no more such work, and waits for what it has begun. */
function keepOut(words: Int32Array): void {
  Atomics.store(words, ENDING, 1)
  Atomics.wait(words, INSIDE, 1, LEAVE_MS_MAX)
}
