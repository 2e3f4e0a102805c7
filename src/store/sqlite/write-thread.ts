/** The write thread as the main thread sees it. It starts with its first write and again after a fault. */
import { Worker } from 'node:worker_threads'
import { ApiError } from '../../errors.ts'
import { toReplyError } from './thread-failure.ts'
import type { CallWrites } from './write-jobs.ts'
import type {
  WriteRequest,
  WriteResult,
  WriteWorkerData,
  WriteWorkerReply,
  WriteWorkerRequest,
} from './write-serve.ts'

const WORKER_FILE = new URL('./write-worker.ts', import.meta.url)
/** Limit: memory for new objects, most of which are gone with the commit; the rest as Node sets it. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8 }
/** Limit: how long the thread may take to write what waits when it is closed. */
const CLOSE_MS_MAX = 10_000

export interface WriteThread extends CallWrites {
  /** Runs `run` while the thread writes nothing: at once in the next turn when there is no thread. */
  takeTurn(run: () => void): void
  /** Has the thread finish the log; false when there is no thread. */
  finishLog(): boolean
  /** Resolves when what waits is written and the thread has ended. */
  close(): Promise<void>
}

export interface WriteThreadOptions {
  readonly dataDir: string
  /** Writes that may wait. */
  readonly queueMax: number
  /** Called after each commit, before its writes are answered, with the projects that it changed. */
  onCommit(changed: readonly string[]): void
  /** Called when the thread has died: any project may have been changed by what it committed last. */
  onLost(): void
  /** The thread's entry; tests give one of their own. */
  readonly workerFile?: URL
}

export function createWriteThread(options: WriteThreadOptions): WriteThread {
  const { dataDir, queueMax, onCommit, onLost, workerFile = WORKER_FILE } = options
  const answers = createAnswers()
  let gathered: WriteRequest[] = []
  let turns: (() => void)[] = []
  let isGranting = false
  let worker: Worker | null = null

  function askForTurn(): void {
    if (worker) post('pause')
    else setImmediate(takeTurns)
  }

  function takeTurns(): void {
    const granted = turns
    turns = []
    isGranting = true
    for (const run of granted) run()
    isGranting = false
    post('resume')
    // Asked for meanwhile: behind the resumption, which would else end their pause.
    if (turns.length > 0) askForTurn()
  }

  function lose(cause: Error): void {
    worker = null
    gathered = []
    onLost()
    answers.failAll(cause)
    takeTurns()
  }

  function start(): Worker {
    const workerData: WriteWorkerData = { dataDir }
    const started = new Worker(workerFile, { workerData, resourceLimits: RESOURCE_LIMITS })
    started.on('message', (reply: WriteWorkerReply) => {
      if (reply === 'paused') {
        takeTurns()
        return
      }
      onCommit(reply.changed)
      reply.results.forEach(answers.settle)
    })
    started.on('error', lose)
    started.on('exit', () => worker === started && lose(new Error('the write thread ended')))
    return started
  }

  function post(request: WriteWorkerRequest): void {
    worker?.postMessage(request)
  }

  function sendGathered(): void {
    if (gathered.length === 0) return
    worker ??= start()
    post(gathered)
    gathered = []
  }

  return {
    run(name, input, { isUnacknowledged = false } = {}) {
      if (answers.count() >= queueMax) {
        return Promise.reject(new ApiError('server_overloaded', { retryAfterS: 1 }))
      }
      const { id, promise } = answers.expect()
      gathered.push({ id, name, input, isUnacknowledged })
      // After the sockets of this turn were read, so that their writes go in one message.
      if (gathered.length === 1) setImmediate(sendGathered)
      return promise
    },
    takeTurn(run) {
      turns.push(run)
      if (turns.length === 1 && !isGranting) askForTurn()
    },
    finishLog() {
      post('finish_log')
      return worker !== null
    },
    async close() {
      sendGathered()
      const ending = worker
      if (!ending) return
      const ended = new Promise((resolve) => ending.once('exit', resolve))
      post('close')
      const timer = setTimeout(() => void ending.terminate(), CLOSE_MS_MAX)
      await ended
      clearTimeout(timer)
    },
  }
}

/** The promises of writes that the thread has not answered yet. */
function createAnswers() {
  const pending = new Map<number, PromiseWithResolvers<never>>()
  let lastId = 0
  return {
    count: () => pending.size,
    expect() {
      lastId += 1
      const expected = Promise.withResolvers<never>()
      pending.set(lastId, expected)
      return { id: lastId, promise: expected.promise }
    },
    settle({ id, value, ...failure }: WriteResult): void {
      const expected = pending.get(id)
      pending.delete(id)
      const error = toReplyError(failure)
      if (error) expected?.reject(error)
      else expected?.resolve(value as never)
    },
    /** They may be stored or not; parts of calls can be sent again. */
    failAll(cause: Error): void {
      const lost = [...pending.values()]
      pending.clear()
      for (const { reject } of lost) {
        reject(new ApiError('store_unavailable', { cause, retryAfterS: 1 }))
      }
    },
  }
}
