/** mastra: agents over the provider for compatible servers. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import {
  ADD,
  API_KEY,
  add,
  BASE_URL,
  checkPieces,
  checkSum,
  checkText,
  checkUse,
  collect,
  QUESTION,
  run,
} from './cells.mjs'

const provider = createOpenAICompatible({
  name: 'weft',
  baseURL: BASE_URL,
  apiKey: API_KEY,
  supportsStructuredOutputs: true,
})
const adder = createTool({
  id: ADD.name,
  description: ADD.description,
  inputSchema: z.object({ a: z.int(), b: z.int() }),
  execute: async (input) => add(input.context ?? input),
})
const agentOf = (model, more = {}) =>
  new Agent({ id: 'a', name: 'a', instructions: '', model: provider(model), ...more })

await run({
  async plain(model) {
    checkText((await agentOf(model).generate(QUESTION)).text)
  },
  async stream(model) {
    checkPieces(await collect((await agentOf(model).stream(QUESTION)).textStream))
  },
  async tools(model) {
    const agent = agentOf(model, { tools: { add: adder } })
    const answer = await agent.generate(QUESTION, {
      maxSteps: 3,
      modelSettings: { temperature: 0 },
    })
    checkText(answer.text)
    checkUse()
  },
  async structured(model) {
    const structuredOutput = { schema: z.object({ result: z.int() }) }
    checkSum((await agentOf(model).generate(QUESTION, { structuredOutput })).object)
  },
})
