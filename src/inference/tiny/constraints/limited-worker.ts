/** A thread that does one thing at a time, and is terminated when that takes too long. The next one starts it again. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Vocabulary } from '../model/model.ts'
import type { EngineError } from '../plain-errors.ts'
import type { TokenMask } from '../sampling/vocabulary-limits.ts'
import type { TemplateVariables } from '../text/chat-template.ts'
import type { Constraint } from './constraint-plan.ts'

/** Messages to the thread. All but `drop` have a reply, and only one of them is sent at a time. */
export type ToThread =
  | { readonly type: 'load'; readonly grammar: number; readonly constraint: Constraint }
  | {
      readonly type: 'mask'
      readonly grammar: number
      readonly follower: number
      /** Ids of the answer that the follower has not accepted yet. */
      readonly ids: readonly number[]
    }
  | { readonly type: 'render'; readonly template: string; readonly variables: TemplateVariables }
  | { readonly type: 'drop'; readonly grammar?: number; readonly follower?: number }

/** Replies of the thread. */
export type Reply =
  | { readonly type: 'loaded' }
  | { readonly type: 'mask'; readonly mask: TokenMask }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'failed'; readonly error: EngineError }

/** Messages from the thread; `ready` is the first one. */
export type FromThread = Reply | { readonly type: 'ready' }

interface LimitedWorker {
  /** Sends a message and limits the time until its reply. */
  ask(message: ToThread): void
  /** Sends a message without a reply, if there is a thread. */
  post(message: ToThread): void
  /** Terminates the thread, whose reply has come. */
  end(): void
  /** The number of the present thread: what an earlier one knew is gone. */
  life(): number
}

interface LimitedWorkerOptions {
  readonly vocabulary: Vocabulary
  /** Limit: processor time until a reply. Milliseconds. */
  readonly cpuMsMax: number
  readonly onReply: (reply: Reply) => void
  /** Called when the thread has ended, by the limit or by itself, instead of a reply. */
  readonly onLost: () => void
}

/** Limit: heap of the thread, which a template could fill. */
const HEAP_MB_MAX = 96
const CHECK_MS = 20

export function createLimitedWorker(options: LimitedWorkerOptions): LimitedWorker {
  let worker: Worker | null = null
  let life = 0
  let isReady = false
  let isBusy = false
  let begunMs = 0
  let timer: NodeJS.Timeout | null = null

  function start(): Worker {
    const started = new Worker(
      new URL(`./constraint-thread-entry${extname(import.meta.url)}`, import.meta.url),
      {
        workerData: options.vocabulary,
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
      },
    )
    const lose = (): void => {
      if (worker === started) loseThread()
    }
    started.on('message', (message: FromThread) => {
      if (worker !== started) return
      begunMs = readThreadsCpuMs()
      if (message.type === 'ready') {
        isReady = true
      } else {
        isBusy = false
        options.onReply(message)
      }
    })
    started.on('error', lose)
    started.on('exit', lose)
    life += 1
    isReady = false
    return started
  }

  function end(): void {
    const ended = worker
    worker = null
    isBusy = false
    void ended?.terminate()
  }

  function loseThread(): void {
    end()
    options.onLost()
  }

  function check(): void {
    // Its start is nobody's fault.
    if (isBusy && isReady && readThreadsCpuMs() - begunMs > options.cpuMsMax) loseThread()
    if (isBusy || timer === null) return
    clearInterval(timer)
    timer = null
  }

  return {
    ask(message) {
      worker ??= start()
      isBusy = true
      begunMs = readThreadsCpuMs()
      timer ??= setInterval(check, CHECK_MS)
      worker.postMessage(message)
    },
    post: (message) => worker?.postMessage(message),
    end,
    life: () => (worker === null ? life + 1 : life),
  }
}

/** Processor time of all threads of the process but this one. */
function readThreadsCpuMs(): number {
  const [all, own] = [process.cpuUsage(), process.threadCpuUsage()]
  return (all.user + all.system - own.user - own.system) / 1_000
}
