/** The two ways to serve writes: in a thread, and inline where no other connection can open the database. */
import type { Connection } from '../db/connection.ts'
import { startGuardedThread } from '../db/guarded-thread.ts'
import type { WriterEnd, WriterListener } from './writer.ts'
import { createWriterServer, type WriterReply, type WriterRequest } from './writer-serve.ts'

const ENTRY = new URL('./writer-entry.ts', import.meta.url)
/** Limit: memory for new objects, most of which end with the commit; all else as Node sets it. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8 }

/** What the thread is started with. */
export interface WriterData {
  readonly dataDir: string
  /** Of createLogGateMemory. */
  readonly gate: SharedArrayBuffer
}

/** Starts the thread. @param entry - its entry; tests give one of their own */
export function openWriterThread(
  workerData: WriterData,
  { onReply, onLost }: WriterListener,
  entry = ENTRY,
): WriterEnd {
  const thread = startGuardedThread(entry, { workerData, resourceLimits: RESOURCE_LIMITS })
  const { worker } = thread
  const ended = Promise.withResolvers<void>()
  let isClosing = false
  let isLost = false

  function lose(cause: Error): void {
    if (isLost || isClosing) return
    isLost = true
    onLost(cause)
  }

  worker.on('message', (reply: WriterReply) => onReply(reply))
  worker.on('error', lose)
  worker.on('exit', () => {
    ended.resolve()
    lose(new Error('the writer ended'))
  })
  return {
    ended: ended.promise,
    post(request) {
      isClosing ||= request === 'close'
      worker.postMessage(request)
    },
    terminate: thread.endByForce,
  }
}

/** Serves on the caller's connection, which it closes; inputs and results are cloned as a message would be. */
export function openInlineWrites(db: Connection, { onReply }: WriterListener): WriterEnd {
  const receive = createWriterServer(db, (reply) => onReply(structuredClone(reply)))
  return {
    ended: Promise.resolve(),
    post: (request: WriterRequest) => receive(structuredClone(request)),
    terminate: () => undefined,
  }
}
