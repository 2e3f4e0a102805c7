/** LlamaIndex for TypeScript below OpenLLMetry. */
import { createRequire } from 'node:module'
import { LlamaIndexInstrumentation } from '@traceloop/instrumentation-llamaindex'
import { drain, FAIL, openProvider, PLAIN, runSteps, STREAM, SUNNY, WEATHER } from './steps.mjs'

const require = createRequire(import.meta.url)
const provider = await openProvider()
const instrumentation = new LlamaIndexInstrumentation({ traceContent: true })
instrumentation.setTracerProvider(provider)
const llamaindex = require('llamaindex')
const openai = require('@llamaindex/openai')
instrumentation.manuallyInstrument(llamaindex, openai)
const llm = new openai.OpenAI({ model: 'gpt-5', apiKey: 'none', maxRetries: 0 })
const user = (content) => [{ role: 'user', content }]
const weather = llamaindex.tool({
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: require('zod').z.object({ city: require('zod').z.string() }),
  execute: () => SUNNY,
})
await runSteps(provider, {
  plain: () => llm.chat({ messages: user(PLAIN) }),
  tool: () => llm.exec({ messages: user(WEATHER), tools: [weather] }),
  stream: async () => drain(await llm.chat({ messages: user(STREAM), stream: true })),
  fail: () => llm.chat({ messages: user(FAIL) }),
})
