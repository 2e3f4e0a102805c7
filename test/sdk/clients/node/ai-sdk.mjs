/** The Vercel AI SDK: its provider for compatible servers, and the one of OpenAI, which asks for responses. */
import assert from 'node:assert/strict'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embed, generateText, Output, stepCountIs, streamText, tool } from 'ai'
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

const settings = { name: 'weft', baseURL: BASE_URL, apiKey: API_KEY }
const provider = createOpenAICompatible({ ...settings, supportsStructuredOutputs: true })
const responses = createOpenAI(settings)
const adder = tool({
  description: ADD.description,
  inputSchema: z.object({ a: z.int(), b: z.int() }),
  execute: add,
})
const ask = (model, more) => ({ model, prompt: QUESTION, maxRetries: 0, ...more })
const withTools = { tools: { add: adder }, temperature: 0, stopWhen: stepCountIs(3) }

await run({
  async plain(model) {
    checkText((await generateText(ask(provider(model)))).text)
  },
  async stream(model) {
    checkPieces(await collect(streamText(ask(provider(model))).textStream))
  },
  async tools(model) {
    checkText((await generateText(ask(provider(model), withTools))).text)
    checkUse()
  },
  async structured(model) {
    const output = Output.object({ schema: z.object({ result: z.int() }) })
    checkSum((await generateText(ask(provider(model), { output }))).output)
  },
  async responses(model) {
    checkText((await generateText(ask(responses(model), withTools))).text)
    checkUse()
    checkPieces(await collect(streamText(ask(responses(model))).textStream))
  },
  async embeddings(model) {
    const made = await embed({ model: provider.embeddingModel(model), value: 'a cat' })
    assert.equal(made.embedding.length, 128)
  },
  async completions(model) {
    checkText((await generateText(ask(provider.completionModel(model)))).text)
  },
})
