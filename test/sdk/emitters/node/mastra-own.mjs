import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { Observability } from '@mastra/observability'
import { OtelExporter } from '@mastra/otel-exporter'
import { z } from 'zod'
import {
  attempt,
  CONVERSATION,
  FAIL,
  finish,
  PLAIN,
  PROVIDER,
  STREAM,
  SUNNY,
  USER,
  WEATHER,
} from './steps.mjs'

const openai = createOpenAICompatible({
  name: 'openai',
  baseURL: `${PROVIDER}/v1`,
  apiKey: 'none',
  includeUsage: true,
})
const forecaster = new Agent({
  id: 'forecaster',
  name: 'forecaster',
  instructions: 'Be brief.',
  model: openai.chatModel('gpt-5'),
  maxRetries: 0,
  tools: {
    get_weather: createTool({
      id: 'get_weather',
      description: 'The weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async () => SUNNY,
    }),
  },
})
const exporter = new OtelExporter({
  provider: {
    custom: {
      endpoint: `${process.env.WEFT_URL}/v1/traces`,
      protocol: 'http/protobuf',
      headers: { authorization: `Bearer ${process.env.WEFT_KEY}`, project_id: process.env.PROJECT },
    },
  },
})
const mastra = new Mastra({
  agents: { forecaster },
  logger: false,
  observability: new Observability({
    configs: { otel: { serviceName: 'program', exporters: [exporter] } },
  }),
})
const agent = mastra.getAgent('forecaster')
const tracingOptions = { metadata: { sessionId: CONVERSATION, userId: USER } }
await attempt({
  plain: () => agent.generate(PLAIN, { tracingOptions }),
  tool: () => agent.generate(WEATHER, { tracingOptions }),
  stream: async () => (await agent.stream(STREAM, { tracingOptions })).consumeStream(),
  fail: () => agent.generate(FAIL, { tracingOptions }),
})
await finish(async () => {
  await exporter.flush?.()
  await mastra.shutdown()
})
