/** Bedrock's converse, which is not streamed here, below an instrumentation of choice. */
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { FAIL, PLAIN, PROVIDER, SUNNY, TOOL_SCHEMA, WEATHER } from './steps.mjs'

const user = (...content) => ({ role: 'user', content })

/** @param bedrock - AWS's client, as it was instrumented */
export function stepsOf(bedrock) {
  const client = new bedrock.BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: PROVIDER,
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    maxAttempts: 1,
    // HTTP/1.1, which the provider speaks.
    requestHandler: new NodeHttpHandler({ requestTimeout: 20_000 }),
  })
  const ask = (messages, more) =>
    client.send(new bedrock.ConverseCommand({ modelId: 'amazon.nova-pro-v1:0', messages, ...more }))
  return {
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
}
