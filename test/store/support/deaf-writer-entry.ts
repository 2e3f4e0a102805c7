/** A writer that answers nothing and does not end. */
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', () => undefined)
