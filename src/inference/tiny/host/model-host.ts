/**
 * The process in which the model runs. Unlike a thread, it can loop or run out of memory without ending the server. Its
 * environment has only the folder of the compile cache, and so no secrets.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EngineOptions, FromEngine, ToEngine } from './engine-messages.ts'

/** A running process; it reports its end once. */
export interface ModelHost {
  send(message: ToEngine): void
  /** Ends it at once, whatever it is doing. */
  end(): Promise<void>
}

/** What a host reports. */
interface HostListener {
  onMessages(messages: readonly FromEngine[]): void
  /** The process has ended, but not because of `end`. */
  onLost(cause: unknown): void
}

/** Limit: what a template and the model's texts need at the most, with much to spare. */
const HEAP_MB_MAX = 96

/** Where the server keeps compiled code, if it does; Node adds a folder for its version. */
const COMPILED = getCompileCacheDir()
/** With compiled code a start takes 0.2 s of the processor instead of 0.5. */
const ENVIRONMENT = COMPILED === undefined ? {} : { NODE_COMPILE_CACHE: dirname(COMPILED) }

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts a process for a script. */
export function startHost(script: URL, options: EngineOptions, listener: HostListener): ModelHost {
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
