/** LangChain JS. */
import assert from 'node:assert/strict'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
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

const configuration = { baseURL: BASE_URL }
const settings = { apiKey: API_KEY, maxRetries: 0, configuration }
const modelOf = (model, more = {}) => new ChatOpenAI({ model, ...settings, ...more })
const adder = tool(add, {
  name: ADD.name,
  description: ADD.description,
  schema: z.object({ a: z.int(), b: z.int() }),
})

await run({
  async plain(model) {
    checkText((await modelOf(model).invoke(QUESTION)).content)
  },
  async stream(model) {
    checkPieces(await collect(await modelOf(model).stream(QUESTION), ({ content }) => content))
  },
  async tools(model) {
    const asked = modelOf(model).bindTools([adder], { tool_choice: 'required' })
    const [call] = (await asked.invoke(QUESTION)).tool_calls
    await adder.invoke(call)
    checkUse()
  },
  async structured(model) {
    const asked = modelOf(model).withStructuredOutput(z.object({ result: z.int() }), {
      method: 'jsonSchema',
    })
    checkSum(await asked.invoke(QUESTION))
  },
  async responses(model) {
    const { content } = await modelOf(model, { useResponsesApi: true }).invoke(QUESTION)
    checkText(typeof content === 'string' ? content : content[0].text)
  },
  async embeddings(model) {
    const made = await new OpenAIEmbeddings({ model, ...settings }).embedQuery('a cat')
    assert.equal(made.length, 128)
  },
})
