/** Entry of a thread that opens a database, and says so. */
import { parentPort, workerData } from 'node:worker_threads'
import { openCheckpointDatabase } from '../../../src/store/sqlite/db/connection.ts'

openCheckpointDatabase((workerData as { readonly path: string }).path)
parentPort?.postMessage('opened')
