/** The real worker, but it dies of a request that says "crash". For tests. */
import { parentPort } from 'node:worker_threads'
import type { ToWorker } from '../../src/inference/tiny/host/worker-messages.ts'

await import('../../src/inference/tiny/host/worker.ts')

parentPort?.on('message', (message: ToWorker) => {
  const isCrash = message.type === 'start' && message.plan.prompt.messages[0]?.content === 'crash'
  if (isCrash) throw new Error('the thread was made to crash')
})
