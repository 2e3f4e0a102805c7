/** The real worker, but it dies of a request that says "crash". For tests. */
import type { ToWorker } from '../../src/inference/tiny/host/worker-messages.ts'

await import('../../src/inference/tiny/host/worker.ts')

process.on('message', (message: ToWorker) => {
  const isCrash = message.type === 'start' && message.plan.prompt.messages[0]?.content === 'crash'
  if (isCrash) throw new Error('the process was made to crash')
})
