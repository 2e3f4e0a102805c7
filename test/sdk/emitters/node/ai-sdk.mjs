/**
 * The AI SDK; WITH=legacy has the attributes that it had before version 7, WITH=openinference those of OpenInference beside
 * its own.
 */
import { createOpenAI } from '@ai-sdk/openai'
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel'
import { embed, generateText, registerTelemetry, stepCountIs, streamText, tool } from 'ai'
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

const { WITH } = process.env
async function openInferenceProvider() {
  const { OpenInferenceBatchSpanProcessor } = await import('@arizeai/openinference-vercel')
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  return openProvider([new OpenInferenceBatchSpanProcessor({ exporter: new OTLPTraceExporter() })])
}
const provider = await (WITH === 'openinference' ? openInferenceProvider() : openProvider())
const all = { usage: true, providerMetadata: true, embedding: true }
registerTelemetry(
  WITH === 'legacy'
    ? new LegacyOpenTelemetry()
    : new OpenTelemetry({ runtimeContext: true, ...(WITH === 'openinference' ? all : {}) }),
)
const openai = createOpenAI({ baseURL: `${PROVIDER}/v1`, apiKey: 'none' })
const model = process.env.API === 'responses' ? openai.responses('gpt-5') : openai.chat('gpt-5')
const about = { sessionId: CONVERSATION, userId: USER }
const common = {
  model,
  maxRetries: 0,
  runtimeContext: about,
  telemetry: {
    isEnabled: true,
    functionId: 'forecast',
    includeRuntimeContext: { sessionId: true, userId: true },
    metadata: about,
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
