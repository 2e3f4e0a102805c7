/**
 * What the model runs in: a thread of the server, or a process that can run out of memory without taking
 * the server with it. It must get no environment: secrets have no business there.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerOptions } from './worker-messages.ts'

/** A running script; it tells of its end once. */
export interface ModelHost {
  send(message: ToWorker): void
  /** Ends it at once, whatever it is doing. */
  end(): Promise<void>
}

/** What a host reports. */
export interface HostListener {
  onMessages(messages: readonly FromWorker[]): void
  /** It is gone, and not because `end` was called. */
  onLost(cause: unknown): void
}

/** Starts a host for a script. */
export type StartHost = (script: URL, options: WorkerOptions, listener: HostListener) => ModelHost

/** Limit: what a template and the model need at the most, with much to spare. */
const HEAP_MB_MAX = 96
/** Limit: 256 MB for a grammar; a large one takes a tenth of it. */
const GRAMMAR_PAGES_MAX = 4_096
/** A thread: quick to start, and its memory is the server's. */
export const startThread: StartHost = (script, options, listener) => {
  const worker = new Worker(script, { workerData: options, env: {}, name: 'tiny' })
  worker.on('message', listener.onMessages)
  worker.on('error', listener.onLost)
  worker.on('exit', (code) => listener.onLost(new Error(`the model's thread exited with ${code}`)))
  return {
    send: (message) => worker.postMessage(message),
    async end() {
      await worker.terminate()
    },
  }
}

/** A process, for what may loop or take memory without an end. Why: a thread that is out of memory ends the server. */
export const startProcess: StartHost = (script, options, listener) => {
  const child = fork(fileURLToPath(script), [JSON.stringify(options), `${process.pid}`], {
    env: {},
    execArgv: [`--max-old-space-size=${HEAP_MB_MAX}`, `--wasm-max-mem-pages=${GRAMMAR_PAGES_MAX}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  process.once('exit', kill)
  child.on('message', (messages) => listener.onMessages(messages as FromWorker[]))
  child.on('error', listener.onLost)
  child.on('exit', (code, signal) => {
    process.off('exit', kill)
    resolve()
    listener.onLost(new Error(`the model's process ended with ${code ?? signal}`))
  })
  return {
    // A message to a process that is just ending has nobody to read it.
    send: (message) => void child.send(message, () => {}),
    async end() {
      kill()
      await gone
    },
  }
}
