import { createRequire } from 'node:module'
import { BedrockInstrumentation } from '@arizeai/openinference-instrumentation-bedrock'
import { stepsOf } from './bedrock-steps.mjs'
import { withSession } from './openinference.mjs'
import { openProvider, runSteps } from './steps.mjs'

const provider = await openProvider()
const bedrock = createRequire(import.meta.url)('@aws-sdk/client-bedrock-runtime')
new BedrockInstrumentation({ tracerProvider: provider }).manuallyInstrument(bedrock)
await runSteps(provider, stepsOf(bedrock), withSession)
