/** TanStack AI with its middleware for OpenTelemetry, which has no session. */
import { trace } from '@opentelemetry/api'
import { chat, toolDefinition } from '@tanstack/ai'
import { otelMiddleware } from '@tanstack/ai/middlewares/otel'
import { createOpenaiChat, createOpenaiChatCompletions } from '@tanstack/ai-openai'
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
  WEATHER,
} from './steps.mjs'

const provider = await openProvider()
const create = process.env.API === 'responses' ? createOpenaiChat : createOpenaiChatCompletions
const adapter = create('gpt-5', 'none', { baseURL: `${PROVIDER}/v1`, maxRetries: 0 })
const middleware = [otelMiddleware({ tracer: trace.getTracer('program'), captureContent: true })]
const weather = toolDefinition({
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
}).server(async () => SUNNY)
const ask = (content, more) =>
  chat({
    adapter,
    middleware,
    threadId: CONVERSATION,
    messages: [{ role: 'user', content }],
    ...more,
  })
await runSteps(provider, {
  plain: () => ask(PLAIN, { stream: false }),
  tool: () => ask(WEATHER, { stream: false, tools: [weather] }),
  stream: () => drain(ask(STREAM)),
  // A promise that fails has no span.
  fail: () => drain(ask(FAIL)),
})
