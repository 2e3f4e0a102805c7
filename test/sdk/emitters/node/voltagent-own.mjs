/** VoltAgent, with a processor of ours beside its own ones. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { Agent, createTool, VoltAgentObservability } from '@voltagent/core'
import { z } from 'zod'
import {
  attempt,
  CONVERSATION,
  drain,
  FAIL,
  finish,
  PLAIN,
  PROVIDER,
  STREAM,
  SUNNY,
  USER,
  WEATHER,
} from './steps.mjs'

const observability = new VoltAgentObservability({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
})
const openai = createOpenAICompatible({
  name: 'openai',
  apiKey: 'none',
  baseURL: `${PROVIDER}/v1`,
  includeUsage: true,
})
const agent = () =>
  new Agent({
    name: 'forecaster',
    instructions: 'Be brief.',
    model: openai('gpt-5'),
    maxRetries: 0,
    observability,
    tools: [
      createTool({
        name: 'get_weather',
        description: 'The weather of a city.',
        parameters: z.object({ city: z.string() }),
        execute: async () => SUNNY,
      }),
    ],
  })
const who = { userId: USER, conversationId: CONVERSATION, maxRetries: 0 }
await attempt({
  plain: () => agent().generateText(PLAIN, who),
  tool: () => agent().generateText(WEATHER, who),
  async stream() {
    const { textStream } = await agent().streamText(STREAM, who)
    await drain(textStream)
  },
  fail: () => agent().generateText(FAIL, who),
})
await finish(() => observability.shutdown())
