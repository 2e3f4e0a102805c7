import { setSession, setUser } from '@arizeai/openinference-core'
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import { context } from '@opentelemetry/api'
import OpenAI from 'openai'
import { stepsOf } from './openai-steps.mjs'
import { CONVERSATION, openProvider, runSteps, USER } from './steps.mjs'

const provider = await openProvider()
const instrumentation = new OpenAIInstrumentation({ tracerProvider: provider })
instrumentation.manuallyInstrument(OpenAI)
const client = new OpenAI({ maxRetries: 0 })
await runSteps(provider, stepsOf(client), (run) =>
  context.with(
    setUser(setSession(context.active(), { sessionId: CONVERSATION }), { userId: USER }),
    run,
  ),
)
