/** Ax with the tracer of the program. */
import { ai } from '@ax-llm/ax'
import { trace } from '@opentelemetry/api'
import {
  CONVERSATION,
  FAIL,
  openProvider,
  PLAIN,
  PROVIDER,
  runSteps,
  STREAM,
  SUNNY,
  TOOL_SCHEMA,
  WEATHER,
} from './steps.mjs'

const provider = await openProvider()
const llm = ai({
  name: 'openai',
  apiKey: 'none',
  apiURL: `${PROVIDER}/v1`,
  config: { model: 'gpt-5', stream: false },
  options: { tracer: trace.getTracer('program'), retry: { maxRetries: 0 } },
})
const user = (content) => ({ role: 'user', content })
const ask = (chatPrompt, more, options) =>
  llm.chat({ chatPrompt, ...more }, { sessionId: CONVERSATION, stream: false, ...options })
await runSteps(provider, {
  plain: () => ask([user(PLAIN)]),
  async tool() {
    const functions = [
      { name: 'get_weather', description: 'The weather of a city.', parameters: TOOL_SCHEMA },
    ]
    const { results } = await ask([user(WEATHER)], { functions })
    const { functionCalls } = results[0]
    const result = { role: 'function', functionId: functionCalls[0].id, result: SUNNY }
    await ask([user(WEATHER), { role: 'assistant', functionCalls }, result], { functions })
  },
  async stream() {
    const reader = (await ask([user(STREAM)], {}, { stream: true })).getReader()
    while (!(await reader.read()).done);
  },
  fail: () => ask([user(FAIL)]),
  embed: () => llm.embed({ texts: ['Please embed.'], embedModel: 'text-embedding-3-small' }),
})
