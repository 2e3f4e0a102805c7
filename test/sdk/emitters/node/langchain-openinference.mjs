import { setSession, setUser } from '@arizeai/openinference-core'
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import * as callbacks from '@langchain/core/callbacks/manager'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { context } from '@opentelemetry/api'
import {
  CONVERSATION,
  drain,
  FAIL,
  openProvider,
  PLAIN,
  runSteps,
  STREAM,
  SUNNY,
  TOOL_CHAT,
  USER,
  WEATHER,
} from './steps.mjs'

const provider = await openProvider()
new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(callbacks)
const model = new ChatOpenAI({
  model: 'gpt-5',
  maxRetries: 0,
  useResponsesApi: process.env.API === 'responses',
})
const steps = {
  plain: () => model.invoke(PLAIN),
  async tool() {
    const bound = model.bindTools([TOOL_CHAT])
    const question = new HumanMessage(WEATHER)
    const first = await bound.invoke([question])
    const result = new ToolMessage({ tool_call_id: first.tool_calls[0].id, content: SUNNY })
    await bound.invoke([question, first, result])
  },
  stream: async () => drain(await model.stream(STREAM)),
  fail: () => model.invoke(FAIL),
}
await runSteps(provider, steps, (run) =>
  context.with(
    setUser(setSession(context.active(), { sessionId: CONVERSATION }), { userId: USER }),
    run,
  ),
)
