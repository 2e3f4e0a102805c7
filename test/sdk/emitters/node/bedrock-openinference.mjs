import { createRequire } from 'node:module'
import { setSession, setUser } from '@arizeai/openinference-core'
import { BedrockInstrumentation } from '@arizeai/openinference-instrumentation-bedrock'
import { context } from '@opentelemetry/api'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import {
  CONVERSATION,
  FAIL,
  openProvider,
  PLAIN,
  PROVIDER,
  runSteps,
  SUNNY,
  TOOL_SCHEMA,
  USER,
  WEATHER,
} from './steps.mjs'

const provider = await openProvider()
const bedrock = createRequire(import.meta.url)('@aws-sdk/client-bedrock-runtime')
new BedrockInstrumentation({ tracerProvider: provider }).manuallyInstrument(bedrock)
const client = new bedrock.BedrockRuntimeClient({
  region: 'us-east-1',
  endpoint: PROVIDER,
  credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
  maxAttempts: 1,
  // HTTP/1.1, which the provider speaks.
  requestHandler: new NodeHttpHandler({ requestTimeout: 20_000 }),
})
const user = (...content) => ({ role: 'user', content })
const ask = (messages, more) =>
  client.send(new bedrock.ConverseCommand({ modelId: 'amazon.nova-pro-v1:0', messages, ...more }))
const steps = {
  plain: () => ask([user({ text: PLAIN })]),
  async tool() {
    const toolConfig = {
      tools: [{ toolSpec: { name: 'get_weather', inputSchema: { json: TOOL_SCHEMA } } }],
    }
    const { output } = await ask([user({ text: WEATHER })], { toolConfig })
    const { toolUseId } = output.message.content.find(({ toolUse }) => toolUse).toolUse
    const toolResult = { toolUseId, content: [{ text: SUNNY }] }
    await ask([user({ text: WEATHER }), output.message, user({ toolResult })], { toolConfig })
  },
  fail: () => ask([user({ text: FAIL })]),
}
await runSteps(provider, steps, (run) =>
  context.with(
    setUser(setSession(context.active(), { sessionId: CONVERSATION }), { userId: USER }),
    run,
  ),
)
