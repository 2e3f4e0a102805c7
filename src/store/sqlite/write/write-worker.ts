/** Entry of the write thread, which owns the only connection that writes. */
import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../db/connection.ts'
import { createWriteServer, type WriterRequest } from './write-serve.ts'
import type { WriteWorkerData } from './writer-ends.ts'

/** Pages of the log at which a commit moves it after all, should the thread that does so fall behind: 256 MB. */
const LOG_PAGES_MAX = 65_536

const port = parentPort
if (port === null) throw new Error('the write thread runs in a worker thread')
const db = openDatabase((workerData as WriteWorkerData).dataDir)
db.pragma(`wal_autocheckpoint = ${LOG_PAGES_MAX}`)
const receive = createWriteServer(db, (reply) => port.postMessage(reply))
port.on('message', (request: WriterRequest) => {
  receive(request)
  // After the last results, which are posted in a microtask.
  if (request === 'close') setImmediate(() => port.close())
})
