/** @anthropic-ai/sdk: messages with its helper of streams, its runner of tools and its parser, and the list of models. */
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'
import * as cells from './cells.mjs'

const baseURL = process.env.OPENAI_BASE_URL.replace(/\/v1$/, '')
const client = new Anthropic({ baseURL, apiKey: process.env.OPENAI_API_KEY, maxRetries: 0 })
const messages = [{ role: 'user', content: cells.QUESTION }]
const Sum = z.object({ result: z.int() })

await cells.run({
  async plain(model) {
    const answer = await client.messages.create({ model, max_tokens: 64, messages })
    cells.checkText(answer.content[0].text)
    assert.ok(answer._request_id)
  },
  async stream(model) {
    const pieces = []
    const events = client.messages.stream({ model, max_tokens: 64, messages })
    events.on('text', (text) => pieces.push(text))
    assert.equal((await events.finalMessage()).stop_reason, 'end_turn')
    cells.checkPieces(pieces)
  },
  async tools(model) {
    const tool = betaZodTool({
      name: cells.ADD.name,
      description: cells.ADD.description,
      inputSchema: z.object({ a: z.int(), b: z.int() }),
      run: (numbers) => String(cells.add(numbers)),
    })
    const asked = { model, max_tokens: 256, messages, tools: [tool] }
    cells.checkText((await client.beta.messages.toolRunner(asked).runUntilDone()).content[0].text)
    cells.checkUse()
  },
  async structured(model) {
    const output_config = { format: zodOutputFormat(Sum) }
    const answer = await client.messages.parse({ model, max_tokens: 64, messages, output_config })
    cells.checkSum(answer.parsed_output)
  },
  async tokens(model) {
    assert.ok((await client.messages.countTokens({ model, messages })).input_tokens > 0)
  },
  async models(model) {
    const ids = await cells.collect(client.models.list(), ({ id }) => id)
    assert.ok(ids.includes(model))
    assert.equal((await client.models.retrieve(model)).type, 'model')
  },
})
