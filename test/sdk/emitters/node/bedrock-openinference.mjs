import { createRequire } from 'node:module'
import { setSession, setUser } from '@arizeai/openinference-core'
import { BedrockInstrumentation } from '@arizeai/openinference-instrumentation-bedrock'
import { context } from '@opentelemetry/api'
import { stepsOf } from './bedrock-steps.mjs'
import { CONVERSATION, openProvider, runSteps, USER } from './steps.mjs'

const provider = await openProvider()
const bedrock = createRequire(import.meta.url)('@aws-sdk/client-bedrock-runtime')
new BedrockInstrumentation({ tracerProvider: provider }).manuallyInstrument(bedrock)
await runSteps(provider, stepsOf(bedrock), (run) =>
  context.with(
    setUser(setSession(context.active(), { sessionId: CONVERSATION }), { userId: USER }),
    run,
  ),
)
