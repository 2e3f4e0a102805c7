/**
 * A thread for the log that shuts the gate, leaves a mark beside the database and dies, as when the disk is full. A thread
 * that is not guarded leaves no mark.
 */
import { appendFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { openWalGate } from '../../../src/store/sqlite/db/wal-gate.ts'
import type { WalCheckpointerData } from '../../../src/store/sqlite/write/wal-checkpointer-serve.ts'

const { path, gate, wholeWork } = workerData as WalCheckpointerData & {
  readonly wholeWork?: unknown
}
openWalGate(gate).fill()
if (wholeWork !== undefined) appendFileSync(`${path}-starts`, 'x')
throw new Error('disk full')
