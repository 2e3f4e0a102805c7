/** LangChain JS. */
import assert from 'node:assert/strict'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { z } from 'zod'
import * as cells from './cells.mjs'

const configuration = { baseURL: cells.BASE_URL }
const settings = { apiKey: cells.API_KEY, maxRetries: 0, configuration }
const modelOf = (model, more = {}) => new ChatOpenAI({ model, ...settings, ...more })
const adder = tool(cells.add, {
  name: cells.ADD.name,
  description: cells.ADD.description,
  schema: z.object({ a: z.int(), b: z.int() }),
})

await cells.run({
  async plain(model) {
    cells.checkText((await modelOf(model).invoke(cells.QUESTION)).content)
  },
  async stream(model) {
    cells.checkPieces(
      await cells.collect(await modelOf(model).stream(cells.QUESTION), ({ content }) => content),
    )
  },
  async tools(model) {
    const asked = modelOf(model).bindTools([adder], { tool_choice: 'required' })
    const [call] = (await asked.invoke(cells.QUESTION)).tool_calls
    await adder.invoke(call)
    cells.checkUse()
  },
  async structured(model) {
    const asked = modelOf(model).withStructuredOutput(z.object({ result: z.int() }), {
      method: 'jsonSchema',
    })
    cells.checkSum(await asked.invoke(cells.QUESTION))
  },
  async responses(model) {
    const { content } = await modelOf(model, { useResponsesApi: true }).invoke(cells.QUESTION)
    cells.checkText(typeof content === 'string' ? content : content[0].text)
  },
  async embeddings(model) {
    const made = await new OpenAIEmbeddings({ model, ...settings }).embedQuery('a cat')
    assert.equal(made.length, 128)
  },
})
