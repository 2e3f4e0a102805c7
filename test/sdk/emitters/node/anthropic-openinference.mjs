import Anthropic from '@anthropic-ai/sdk'
import { setSession, setUser } from '@arizeai/openinference-core'
import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic'
import { context } from '@opentelemetry/api'
import { stepsOf } from './anthropic-steps.mjs'
import { CONVERSATION, openProvider, runSteps, USER } from './steps.mjs'

const provider = await openProvider()
new AnthropicInstrumentation({ tracerProvider: provider }).manuallyInstrument(Anthropic)
await runSteps(provider, stepsOf(new Anthropic({ maxRetries: 0 })), (run) =>
  context.with(
    setUser(setSession(context.active(), { sessionId: CONVERSATION }), { userId: USER }),
    run,
  ),
)
