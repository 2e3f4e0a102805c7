/** Promptfoo's traces of an evaluation. It takes the endpoint for the whole address, and does not stream. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FAIL, PLAIN, PROVIDER, SUNNY, TOOL_CHAT, WEATHER } from './steps.mjs'

Object.assign(process.env, {
  PROMPTFOO_OTEL_ENDPOINT: `${process.env.WEFT_URL}/v1/traces`,
  PROMPTFOO_CONFIG_DIR: mkdtempSync(join(tmpdir(), 'promptfoo-')),
  PROMPTFOO_DISABLE_TELEMETRY: '1',
  PROMPTFOO_DISABLE_UPDATE: '1',
})
const { default: promptfoo } = await import('promptfoo')
const call = {
  id: 'call_2',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
}
const answered = [
  { role: 'user', content: WEATHER },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: call.id, content: SUNNY },
]
const questions = [PLAIN, WEATHER, JSON.stringify(answered), FAIL]
await promptfoo.evaluate(
  {
    prompts: ['{{question}}'],
    providers: [
      { id: 'openai:chat:gpt-5', config: { apiBaseUrl: `${PROVIDER}/v1`, tools: [TOOL_CHAT] } },
    ],
    tests: questions.map((question) => ({ vars: { question } })),
    tracing: { enabled: true },
    writeLatestResults: false,
  },
  { maxConcurrency: 1, cache: false, showProgressBar: false },
)
process.exit()
