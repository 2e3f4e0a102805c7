/** A thread for the log that shuts the gate, leaves a mark beside the database and dies, as when the disk is full. */
import { appendFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { openLogGate } from '../../../src/store/sqlite/db/log-gate.ts'
import type { LogKeeperData } from '../../../src/store/sqlite/write/log-keeper-serve.ts'

const { path, gate } = workerData as LogKeeperData
openLogGate(gate).fill()
appendFileSync(`${path}-starts`, 'x')
throw new Error('disk full')
