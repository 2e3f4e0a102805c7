/**
 * A thread for the log that shuts the gate, leaves a mark beside the database and dies, as when the disk is full. A thread
 * that is not guarded leaves no mark.
 */
import { appendFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { openWalGate } from '../../../src/store/sqlite/db/wal-gate.ts'
import type { LogKeeperData } from '../../../src/store/sqlite/write/log-keeper-serve.ts'

const { path, gate, wholeWork } = workerData as LogKeeperData & { readonly wholeWork?: unknown }
openWalGate(gate).fill()
if (wholeWork !== undefined) appendFileSync(`${path}-starts`, 'x')
throw new Error('disk full')
