/** TanStack AI, by its adapter for compatible servers. */
import assert from 'node:assert/strict'
import { chat, maxIterations, toolDefinition } from '@tanstack/ai'
import { openaiCompatible } from '@tanstack/ai-openai/compatible'
import { z } from 'zod'
import * as cells from './cells.mjs'

const models = ['tiny', 'relayed']
const provider = { name: 'weft', baseURL: cells.BASE_URL, apiKey: cells.API_KEY, models }
const byChat = openaiCompatible(provider)
const byResponses = openaiCompatible({ ...provider, api: 'responses' })
const adder = toolDefinition({
  name: cells.ADD.name,
  description: cells.ADD.description,
  inputSchema: z.object({ a: z.int(), b: z.int() }),
}).server(async (input) => cells.add(input))
const messages = [{ role: 'user', content: cells.QUESTION }]

async function ask(adapter, more = {}) {
  const events = await cells.collect(chat({ adapter, messages, ...more }))
  const failed = events.find(({ type }) => type === 'RUN_ERROR')
  assert.equal(failed, undefined, failed?.message)
  const texts = events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
  return { texts: texts.map(({ delta }) => delta), last: events.at(-1) }
}
const use = (adapter) => ask(adapter, { tools: [adder], agentLoopStrategy: maxIterations(3) })

await cells.run({
  async plain(model) {
    cells.checkText(await chat({ adapter: byChat(model), messages, stream: false }))
  },
  async stream(model) {
    const { texts, last } = await ask(byChat(model))
    cells.checkPieces(texts)
    assert.ok(last.usage.completionTokens > 0, JSON.stringify(last))
  },
  async tools(model) {
    cells.checkText((await use(byChat(model))).texts.join(''))
    cells.checkUse()
  },
  async structured(model) {
    const outputSchema = z.object({ result: z.int() })
    cells.checkSum(await chat({ adapter: byChat(model), messages, outputSchema }))
  },
  async responses(model) {
    cells.checkPieces((await ask(byResponses(model))).texts)
    cells.checkText((await use(byResponses(model))).texts.join(''))
    cells.checkUse()
  },
})
