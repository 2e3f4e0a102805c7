/** The AI SDK before version 7, whose telemetry is its own. */
import { stepsOf } from './ai-sdk-steps.mjs'
import { CONVERSATION, openProvider, runSteps, USER } from './steps.mjs'

const provider = await openProvider()
const experimental_telemetry = {
  isEnabled: true,
  functionId: 'forecast',
  metadata: { sessionId: CONVERSATION, userId: USER },
}
await runSteps(provider, stepsOf({ experimental_telemetry }))
