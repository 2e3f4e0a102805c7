/** Entry of the writer thread, which owns the only writing connection. */
import { getHeapStatistics } from 'node:v8'
import { workerData } from 'node:worker_threads'
import { collectWhenIdle } from '../../../threads/idle-gc.ts'
import { serveThread } from '../../../threads/serve-thread.ts'
import { openDatabase } from '../db/connection.ts'
import { openWalGate } from '../db/wal-gate.ts'
import type { Committed } from './group-commit.ts'
import { createWriterServer, type WriterData, type WriterRequest } from './writer-serve.ts'

/** Pages of the log at which a commit checkpoints it, should the WAL checkpointer fall behind: 96 MB. */
const LOG_PAGES_MAX = 24_576

const { dataDir, gate } = workerData as WriterData
const db = openDatabase(dataDir)
db.pragma(`wal_autocheckpoint = ${LOG_PAGES_MAX}`)
const log = openWalGate(gate)
// The previous thread may have died during a copy.
log.setCopied(false)
serveThread<WriterRequest, unknown, Committed>((notify) => createWriterServer(db, notify, log))
collectWhenIdle(() => getHeapStatistics().total_heap_size)
