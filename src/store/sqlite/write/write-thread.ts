/** The write thread as the main thread sees it. It starts with its first write and again after a fault. */
import { Worker } from 'node:worker_threads'
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'
import { ApiError } from '../../../errors.ts'
import type { RecordingLoss } from '../../api/recordings.ts'
import { toReplyError } from '../db/thread-failure.ts'
import { createRecordOutbox } from '../recordings/record-outbox.ts'
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
  /** Takes a call that nobody waits for; false when it is too large or there is no room for it. */
  record(call: RecordedCall): boolean
  /** Has recorded calls written that the thread was not told of. */
  announceRecords(): void
  /** Resolves when the calls that were recorded before are written or lost. */
  flushRecords(): Promise<void>
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
  /** Called after each commit, before its writes are answered. */
  onCommit(): void
  /** Called when the thread has died. */
  onLost?(): void
  /** Called with recorded calls that were not written. */
  onRecordsLost(loss: RecordingLoss): void
  /** The thread's entry; tests give one of their own. */
  readonly workerFile?: URL
}

export function createWriteThread(options: WriteThreadOptions): WriteThread {
  const { dataDir, queueMax, onCommit, onRecordsLost, onLost, workerFile = WORKER_FILE } = options
  const outbox = createRecordOutbox(() => post('records'))
  const answers = createAnswers()
  const turns = createTurns(post, () => worker !== null)
  let gathered: WriteRequest[] = []
  let worker: Worker | null = null

  function lose(cause: Error): void {
    worker = null
    gathered = []
    onLost?.()
    answers.failAll(cause)
    const count = outbox.abandon()
    if (count > 0) onRecordsLost({ count, error: cause })
    turns.grant()
  }

  function start(): Worker {
    const workerData: WriteWorkerData = { dataDir, ring: outbox.open() }
    const started = new Worker(workerFile, { workerData, resourceLimits: RESOURCE_LIMITS })
    started.on('message', (reply: WriteWorkerReply) => {
      if (reply === 'paused') {
        turns.grant()
        return
      }
      onCommit()
      reply.results.forEach(answers.settle)
      for (const { count, ...failure } of reply.lost) {
        onRecordsLost({ count, error: toReplyError(failure) })
      }
      outbox.noteReleased()
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
    record(call) {
      worker ??= start()
      return outbox.add(call)
    },
    announceRecords: outbox.announce,
    flushRecords: outbox.flush,
    takeTurn: turns.take,
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

/** Turns of the main connection, in which the thread stands still. */
function createTurns(post: (word: 'pause' | 'resume') => void, isRunning: () => boolean) {
  let asked: (() => void)[] = []
  let isGranting = false

  function ask(): void {
    if (isRunning()) post('pause')
    else setImmediate(grant)
  }

  function grant(): void {
    const granted = asked
    asked = []
    isGranting = true
    for (const run of granted) run()
    isGranting = false
    post('resume')
    // Asked for meanwhile: behind the resumption, which would else end their pause.
    if (asked.length > 0) ask()
  }

  return {
    take(run: () => void): void {
      asked.push(run)
      if (asked.length === 1 && !isGranting) ask()
    },
    /** The thread stands still, or is gone. */
    grant,
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
