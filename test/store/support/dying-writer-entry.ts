/** A writer that dies with the first writes it gets. */
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', (request) => {
  if (typeof request !== 'string') process.exit(1)
  if (request === 'close') parentPort?.close()
})
