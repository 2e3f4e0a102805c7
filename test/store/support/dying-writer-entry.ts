/** A writer that dies with the first writes it gets. */
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', (request) => {
  if (request !== null) process.exit(1)
  parentPort?.close()
})
