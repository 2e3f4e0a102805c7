import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import OpenAI from 'openai'
import { stepsOf } from './openai-steps.mjs'
import { withSession } from './openinference.mjs'
import { openProvider, runSteps } from './steps.mjs'

const provider = await openProvider()
const instrumentation = new OpenAIInstrumentation({ tracerProvider: provider })
instrumentation.manuallyInstrument(OpenAI)
const client = new OpenAI({ maxRetries: 0 })
await runSteps(provider, stepsOf(client), withSession)
