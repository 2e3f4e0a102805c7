import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import * as callbacks from '@langchain/core/callbacks/manager'
import { stepsOf } from './langchain-steps.mjs'
import { withSession } from './openinference.mjs'
import { openProvider, runSteps } from './steps.mjs'

const provider = await openProvider()
new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(callbacks)
await runSteps(provider, stepsOf(), withSession)
