/** Entry of the writer's thread, which owns the only connection that writes. */
import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../db/connection.ts'
import { openLogGate } from '../db/log-gate.ts'
import { collectThreadAtRest } from '../db/thread-at-rest.ts'
import type { WriterData } from './writer-ends.ts'
import { createWriterServer, type WriterRequest } from './writer-serve.ts'

/** Pages of the log at which a commit moves it after all, should the thread that does so fall behind: 96 MB. */
const LOG_PAGES_MAX = 24_576

const port = parentPort
if (port === null) throw new Error('the writer runs in a thread of its own')
const { dataDir, gate } = workerData as WriterData
const db = openDatabase(dataDir)
db.pragma(`wal_autocheckpoint = ${LOG_PAGES_MAX}`)
const log = openLogGate(gate)
// The thread before this one may have died over a copy.
log.setCopied(false)
const receive = createWriterServer(db, (reply) => port.postMessage(reply), log)
collectThreadAtRest()
port.on('message', (request: WriterRequest) => {
  receive(request)
  // After the last results, which are posted in a microtask.
  if (request === 'close') setImmediate(() => port.close())
})
