import Anthropic from '@anthropic-ai/sdk'
import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic'
import { stepsOf } from './anthropic-steps.mjs'
import { withSession } from './openinference.mjs'
import { openProvider, runSteps } from './steps.mjs'

const provider = await openProvider()
new AnthropicInstrumentation({ tracerProvider: provider }).manuallyInstrument(Anthropic)
await runSteps(provider, stepsOf(new Anthropic({ maxRetries: 0 })), withSession)
