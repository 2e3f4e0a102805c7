/** Strands Agents for JavaScript by itself. */
import { Agent, tool } from '@strands-agents/sdk'
import { OpenAIModel } from '@strands-agents/sdk/models/openai'
import { z } from 'zod'
import {
  CONVERSATION,
  drain,
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
const agent = () =>
  new Agent({
    name: 'forecaster',
    model: new OpenAIModel({
      api: process.env.API === 'responses' ? 'responses' : 'chat',
      modelId: 'gpt-5',
      apiKey: 'none',
      clientConfig: { baseURL: `${PROVIDER}/v1`, maxRetries: 0 },
    }),
    tools: [
      tool({
        name: 'get_weather',
        description: 'The weather of a city.',
        inputSchema: z.object({ city: z.string() }),
        callback: () => SUNNY,
      }),
    ],
    printer: false,
    traceAttributes: { 'session.id': CONVERSATION, 'user.id': USER },
  })
await runSteps(provider, {
  plain: () => agent().invoke(PLAIN),
  tool: () => agent().invoke(WEATHER),
  stream: async () => drain(agent().stream(STREAM)),
  fail: () => agent().invoke(FAIL),
})
