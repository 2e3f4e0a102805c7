/** The steps by the AI SDK with its provider of OpenAI's models. */
import { createOpenAI } from '@ai-sdk/openai'
import { embed, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { FAIL, PLAIN, PROVIDER, STREAM, SUNNY, WEATHER } from './steps.mjs'

/** @param settings - what each request is called with, beside the model */
export function stepsOf(settings) {
  const openai = createOpenAI({ baseURL: `${PROVIDER}/v1`, apiKey: 'none' })
  const model = process.env.API === 'responses' ? openai.responses('gpt-5') : openai.chat('gpt-5')
  const common = { model, maxRetries: 0, ...settings }
  const tools = {
    get_weather: tool({
      description: 'The weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async () => SUNNY,
    }),
  }
  return {
    plain: () => generateText({ ...common, prompt: PLAIN }),
    tool: () => generateText({ ...common, prompt: WEATHER, tools, stopWhen: stepCountIs(3) }),
    stream: () => streamText({ ...common, prompt: STREAM }).consumeStream(),
    fail: () => generateText({ ...common, prompt: FAIL }),
    embed: () =>
      embed({
        ...common,
        model: openai.embedding('text-embedding-3-small'),
        value: 'Please embed.',
      }),
  }
}
