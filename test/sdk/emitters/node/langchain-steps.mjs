/** The steps by LangChain's model of OpenAI, below an instrumentation of choice. */
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { drain, FAIL, PLAIN, STREAM, SUNNY, TOOL_CHAT, WEATHER } from './steps.mjs'

/** @param config - what each request is called with */
export function stepsOf(config) {
  const model = new ChatOpenAI({
    model: 'gpt-5',
    maxRetries: 0,
    useResponsesApi: process.env.API === 'responses',
  })
  return {
    plain: () => model.invoke(PLAIN, config),
    async tool() {
      const bound = model.bindTools([TOOL_CHAT])
      const question = new HumanMessage(WEATHER)
      const first = await bound.invoke([question], config)
      const result = new ToolMessage({ tool_call_id: first.tool_calls[0].id, content: SUNNY })
      await bound.invoke([question, first, result], config)
    },
    stream: async () => drain(await model.stream(STREAM, config)),
    fail: () => model.invoke(FAIL, config),
  }
}
