/** OpenLLMetry around LangChain. */
import * as callbackManagerModule from '@langchain/core/callbacks/manager'
import { LangChainInstrumentation } from '@traceloop/instrumentation-langchain'
import { stepsOf } from './langchain-steps.mjs'
import { openProvider, runSteps } from './steps.mjs'

const provider = await openProvider()
const instrumentation = new LangChainInstrumentation({ traceContent: true })
instrumentation.setTracerProvider(provider)
instrumentation.manuallyInstrument({ callbackManagerModule })
await runSteps(provider, stepsOf())
