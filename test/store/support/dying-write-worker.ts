/** A write thread that dies with the first writes or records it gets. */
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', (request) => {
  if (typeof request !== 'string' || request === 'records') process.exit(1)
})
