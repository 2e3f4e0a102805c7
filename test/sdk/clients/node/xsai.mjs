/** xsai, which sends its requests with fetch. */
import assert from 'node:assert/strict'
import { generateObject } from '@xsai/generate-object'
import { generateText } from '@xsai/generate-text'
import { streamText } from '@xsai/stream-text'
import { rawTool } from '@xsai/tool'
import { z } from 'zod'
import * as cells from './cells.mjs'

const adder = rawTool({ ...cells.ADD, execute: cells.add })
const settings = (model) => ({
  model,
  baseURL: `${cells.BASE_URL}/`,
  apiKey: cells.API_KEY,
  messages: [{ role: 'user', content: cells.QUESTION }],
  temperature: 0,
})

await cells.run({
  async plain(model) {
    const answer = await generateText(settings(model))
    cells.checkText(answer.text)
    assert.ok(answer.usage.completion_tokens > 0)
  },
  async stream(model) {
    const streamOptions = { includeUsage: true }
    const answer = streamText({ ...settings(model), streamOptions })
    cells.checkPieces(await cells.collect(answer.textStream))
    assert.ok((await answer.totalUsage).completion_tokens > 0)
  },
  async tools(model) {
    const asked = { ...settings(model), tools: [adder], maxSteps: 3 }
    cells.checkText((await generateText(asked)).text)
    cells.checkUse()
    const answer = streamText(asked)
    cells.checkText((await cells.collect(answer.textStream)).join(''))
    assert.equal((await answer.steps).length, 2)
  },
  async structured(model) {
    const schema = z.object({ result: z.int() })
    cells.checkSum((await generateObject({ ...settings(model), schema })).object)
  },
})
