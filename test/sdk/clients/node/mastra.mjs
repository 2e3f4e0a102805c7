/** mastra: agents over the provider for compatible servers. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import * as cells from './cells.mjs'

const provider = createOpenAICompatible({
  name: 'weft',
  baseURL: cells.BASE_URL,
  apiKey: cells.API_KEY,
  supportsStructuredOutputs: true,
})
const adder = createTool({
  id: cells.ADD.name,
  description: cells.ADD.description,
  inputSchema: z.object({ a: z.int(), b: z.int() }),
  execute: async (input) => cells.add(input.context ?? input),
})
const agentOf = (model, more = {}) =>
  new Agent({ id: 'a', name: 'a', instructions: '', model: provider(model), ...more })

await cells.run({
  async plain(model) {
    cells.checkText((await agentOf(model).generate(cells.QUESTION)).text)
  },
  async stream(model) {
    cells.checkPieces(await cells.collect((await agentOf(model).stream(cells.QUESTION)).textStream))
  },
  async tools(model) {
    const agent = agentOf(model, { tools: { add: adder } })
    const answer = await agent.generate(cells.QUESTION, {
      maxSteps: 3,
      modelSettings: { temperature: 0 },
    })
    cells.checkText(answer.text)
    cells.checkUse()
  },
  async structured(model) {
    const structuredOutput = { schema: z.object({ result: z.int() }) }
    cells.checkSum((await agentOf(model).generate(cells.QUESTION, { structuredOutput })).object)
  },
})
