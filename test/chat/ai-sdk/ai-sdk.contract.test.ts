import { startFakeUpstream } from '../../support/fake-upstream.ts'
import { describeBackendContract } from '../backend-contract.ts'
import { aiSdkBackend } from './ai-sdk-model.ts'
import { answerProvider } from './provider-wires.ts'

describeBackendContract('the ai-sdk backend', async () => {
  let running = 0
  const behaviour = answerProvider('groq')
  const upstream = await startFakeUpstream((response, request) => {
    running += 1
    void request.closed.then(() => {
      running -= 1
    })
    return behaviour(response, request)
  })
  const backend = aiSdkBackend('groq', upstream.baseUrl)
  return { backend, model: 'm-up', runningCount: () => running }
})
