/** The two ways to serve writes: in a thread, or inline when no other connection can open the database. */

import { startGuardedThread } from '../../../threads/thread.ts'
import type { Connection } from '../db/connection.ts'
import type { WriterEnd, WriterListener } from './writer.ts'
import { createWriterServer, type WriterReply, type WriterRequest } from './writer-serve.ts'

const ENTRY = new URL('./writer-entry.ts', import.meta.url)
/** Limit: memory for new objects, most of which die with the commit; the rest are Node's defaults. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8 }

/** The `workerData` of the thread. */
export interface WriterData {
  readonly dataDir: string
  /** From createWalGateMemory. */
  readonly gate: SharedArrayBuffer
}

/** Starts the thread. @param entry - its entry module; tests pass their own */
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

/** Serves writes on the caller's connection and closes it at the end; clones inputs and results as messages are. */
export function openInlineWrites(db: Connection, { onReply }: WriterListener): WriterEnd {
  const receive = createWriterServer(db, (reply) => onReply(structuredClone(reply)))
  return {
    ended: Promise.resolve(),
    post: (request: WriterRequest) => receive(structuredClone(request)),
    terminate: () => undefined,
  }
}
