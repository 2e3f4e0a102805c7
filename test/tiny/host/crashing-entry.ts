/** The real entry of the engine's process, but it dies of a request that says "crash". For tests. */
import type { ToEngine } from '../../../src/inference/tiny/host/engine-messages.ts'

await import('../../../src/inference/tiny/host/engine-entry.ts')

process.on('message', (message: ToEngine) => {
  const prompt = message.type === 'start' && 'prompt' in message.plan ? message.plan.prompt : null
  const isCrash = prompt && 'messages' in prompt && prompt.messages[0]?.content === 'crash'
  if (isCrash) throw new Error('the process was made to crash')
})
