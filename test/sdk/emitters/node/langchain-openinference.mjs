import { setSession, setUser } from '@arizeai/openinference-core'
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import * as callbacks from '@langchain/core/callbacks/manager'
import { context } from '@opentelemetry/api'
import { stepsOf } from './langchain-steps.mjs'
import { CONVERSATION, openProvider, runSteps, USER } from './steps.mjs'

const provider = await openProvider()
new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(callbacks)
await runSteps(provider, stepsOf(), (run) =>
  context.with(
    setUser(setSession(context.active(), { sessionId: CONVERSATION }), { userId: USER }),
    run,
  ),
)
