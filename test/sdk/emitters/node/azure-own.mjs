/** Azure's client of inference, which traces by the instrumentation of Azure's SDKs. It has no spans of streams. */
import { createRequire } from 'node:module'
import { context } from '@opentelemetry/api'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import {
  FAIL,
  openProvider,
  PLAIN,
  PROVIDER,
  runSteps,
  STREAM,
  SUNNY,
  TOOL_CHAT,
  WEATHER,
} from './steps.mjs'

process.env.AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED = 'true'
const require = createRequire(import.meta.url)
const tracerProvider = await openProvider()
const { createAzureSdkInstrumentation } = require('@azure/opentelemetry-instrumentation-azure-sdk')
registerInstrumentations({ tracerProvider, instrumentations: [createAzureSdkInstrumentation()] })
// What is loaded by `require` is patched.
const { default: createClient, isUnexpected } = require('@azure-rest/ai-inference')
const { AzureKeyCredential } = require('@azure/core-auth')
const client = createClient(PROVIDER, new AzureKeyCredential('none'), {
  allowInsecureConnection: true,
  retryOptions: { maxRetries: 0 },
})
async function ask(messages, more) {
  const response = await client.path('/chat/completions').post({
    body: { model: 'gpt-5', messages, ...more },
    tracingOptions: { tracingContext: context.active() },
  })
  if (isUnexpected(response)) throw new Error(response.body.error.message)
  return response.body
}
const user = (content) => ({ role: 'user', content })
await runSteps(tracerProvider, {
  plain: () => ask([user(PLAIN)]),
  async tool() {
    const tools = [TOOL_CHAT]
    const { choices } = await ask([user(WEATHER)], { tools })
    const { message } = choices[0]
    const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: SUNNY }
    await ask([user(WEATHER), message, result], { tools })
  },
  stream: () => ask([user(STREAM)], { stream: true, stream_options: { include_usage: true } }),
  fail: () => ask([user(FAIL)]),
})
