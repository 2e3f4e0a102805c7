/** The Vercel AI SDK: its provider for compatible servers, and the one of OpenAI, which asks for responses. */
import assert from 'node:assert/strict'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embed, generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import * as cells from './cells.mjs'

const settings = { name: 'weft', baseURL: cells.BASE_URL, apiKey: cells.API_KEY }
const provider = createOpenAICompatible({ ...settings, supportsStructuredOutputs: true })
const responses = createOpenAI(settings)
const adder = tool({
  description: cells.ADD.description,
  inputSchema: z.object({ a: z.int(), b: z.int() }),
  execute: cells.add,
})
const ask = (model, more) => ({ model, prompt: cells.QUESTION, maxRetries: 0, ...more })
const withTools = { tools: { add: adder }, temperature: 0, stopWhen: stepCountIs(3) }

await cells.run({
  async plain(model) {
    cells.checkText((await generateText(ask(provider(model)))).text)
  },
  async stream(model) {
    cells.checkPieces(await cells.collect(streamText(ask(provider(model))).textStream))
  },
  async tools(model) {
    cells.checkText((await generateText(ask(provider(model), withTools))).text)
    cells.checkUse()
  },
  async structured(model) {
    const output = Output.object({ schema: z.object({ result: z.int() }) })
    cells.checkSum((await generateText(ask(provider(model), { output }))).output)
  },
  async responses(model) {
    cells.checkText((await generateText(ask(responses(model), withTools))).text)
    cells.checkUse()
    cells.checkPieces(await cells.collect(streamText(ask(responses(model))).textStream))
  },
  async embeddings(model) {
    const made = await embed({ model: provider.embeddingModel(model), value: 'a cat' })
    assert.equal(made.embedding.length, 128)
  },
  async completions(model) {
    cells.checkText((await generateText(ask(provider.completionModel(model)))).text)
  },
})
