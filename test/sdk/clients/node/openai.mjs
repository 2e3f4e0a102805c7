/** openai (npm): chat completions with its parser and its runner of tools, responses, and what is no chat. */
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import * as cells from './cells.mjs'

const client = new OpenAI({ maxRetries: 0 })
const messages = [{ role: 'user', content: cells.QUESTION }]
const Sum = z.object({ result: z.int() })

await cells.run({
  async plain(model) {
    const answer = await client.chat.completions.create({ model, messages })
    cells.checkText(answer.choices[0].message.content)
  },
  async stream(model) {
    const chunks = await client.chat.completions.create({ model, messages, stream: true })
    cells.checkPieces(await cells.collect(chunks, ({ choices }) => choices[0]?.delta.content))
  },
  async tools(model) {
    const tool = {
      type: 'function',
      function: { ...cells.ADD, parse: JSON.parse, function: cells.add },
    }
    const asked = { model, messages, temperature: 0, tools: [tool] }
    cells.checkText(await client.chat.completions.runTools(asked).finalContent())
    cells.checkUse()
  },
  async structured(model) {
    const response_format = zodResponseFormat(Sum, 'sum')
    const answer = await client.chat.completions.parse({ model, messages, response_format })
    cells.checkSum(answer.choices[0].message.parsed)
  },
  async responses(model) {
    const answer = await client.responses.create({ model, input: cells.QUESTION })
    cells.checkText(answer.output_text)
    const events = await client.responses.create({ model, input: cells.QUESTION, stream: true })
    cells.checkPieces(
      await cells.collect(events, ({ type, delta }) => /text\.delta$/.test(type) && delta),
    )
  },
  async embeddings(model) {
    const made = await client.embeddings.create({ model, input: ['a cat', 'an owl'] })
    assert.deepEqual(
      made.data.map(({ embedding }) => embedding.length),
      [128, 128],
    )
  },
  async completions(model) {
    const asked = { model, prompt: cells.TEXT, temperature: 0 }
    cells.checkText((await client.completions.create(asked)).choices[0].text)
    const chunks = await client.completions.create({ ...asked, stream: true })
    cells.checkPieces(await cells.collect(chunks, ({ choices }) => choices[0]?.text))
  },
})
