/** The AI SDK before version 7, whose telemetry is its own. */
import { createOpenAI } from '@ai-sdk/openai'
import { embed, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import {
  CONVERSATION,
  FAIL,
  openProvider,
  PLAIN,
  PROVIDER,
  runSteps,
  STREAM,
  SUNNY,
  USER,
  WEATHER,
} from './steps.mjs'

const provider = await openProvider()
const openai = createOpenAI({ baseURL: `${PROVIDER}/v1`, apiKey: 'none' })
const common = {
  model: process.env.API === 'responses' ? openai.responses('gpt-5') : openai.chat('gpt-5'),
  maxRetries: 0,
  experimental_telemetry: {
    isEnabled: true,
    functionId: 'forecast',
    metadata: { sessionId: CONVERSATION, userId: USER },
  },
}
const tools = {
  get_weather: tool({
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async () => SUNNY,
  }),
}
await runSteps(provider, {
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
})
