/** Entry of the writer thread, which owns the only writing connection. */
import { getHeapStatistics } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import { collectWhenIdle } from '../../../threads/idle-gc.ts'
import { openDatabase } from '../db/connection.ts'
import { openWalGate } from '../db/wal-gate.ts'
import type { WriterData } from './writer.ts'
import { createWriterServer, type WriterRequest } from './writer-serve.ts'

/** Pages of the log at which a commit checkpoints it, should the WAL checkpointer fall behind: 96 MB. */
const LOG_PAGES_MAX = 24_576

const port = parentPort
if (port === null) throw new Error('the writer runs in a thread of its own')
const { dataDir, gate } = workerData as WriterData
const db = openDatabase(dataDir)
db.pragma(`wal_autocheckpoint = ${LOG_PAGES_MAX}`)
const log = openWalGate(gate)
// The previous thread may have died during a copy.
log.setCopied(false)
const receive = createWriterServer(db, (reply) => port.postMessage(reply), log)
collectWhenIdle(() => getHeapStatistics().total_heap_size)
port.on('message', (request: WriterRequest) => {
  receive(request)
  // Runs after the last results are posted, which a microtask does.
  if (request === 'close') setImmediate(() => port.close())
})
