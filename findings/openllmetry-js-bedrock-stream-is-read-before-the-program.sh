#!/bin/sh
# @traceloop/instrumentation-bedrock 0.27.0 (OpenLLMetry for JavaScript) with @aws-sdk/client-bedrock-runtime 3.1162.0 and a streamed
# response of Claude, InvokeModelWithResponseStream.
#
# The program should get the chunks as they come. The instrumentation reads them all for its span before it returns the response. The
# program gets the first one again, which AWS's client keeps, and neither the text nor the end.
#
# Output seen:
#   before: message_start content_block_start content_block_delta content_block_stop message_delta message_stop
#   instrumented: message_start
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" \
  @traceloop/instrumentation-bedrock@0.27.0 @aws-sdk/client-bedrock-runtime@3.1162.0 @smithy/node-http-handler@4.14.2 \
  @smithy/eventstream-codec@4.5.2 @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0
cat > "$folder/run.cjs" <<'JS'
const { createServer } = require('node:http')
const { EventStreamCodec } = require('@smithy/eventstream-codec')
const bedrock = require('@aws-sdk/client-bedrock-runtime')
const { NodeHttpHandler } = require('@smithy/node-http-handler')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const { BedrockInstrumentation } = require('@traceloop/instrumentation-bedrock')

const codec = new EventStreamCodec((bytes) => Buffer.from(bytes).toString(), (text) => Buffer.from(text))
const fields = { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' }
const headers = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { type: 'string', value }]))
const base64 = (part) => Buffer.from(JSON.stringify(part)).toString('base64')
const chunk = (part) => codec.encode({ headers, body: Buffer.from(JSON.stringify({ bytes: base64(part) })) })
const parts = [
  { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 10, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ho' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 10, outputTokenCount: 7 } },
]
const server = createServer((request, response) => {
  request.resume()
  response.setHeader('content-type', 'application/vnd.amazon.eventstream')
  response.end(Buffer.concat(parts.map((part) => Buffer.from(chunk(part)))))
})
server.listen(0, '127.0.0.1', async () => {
  const client = new bedrock.BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${server.address().port}`,
    credentials: { accessKeyId: 'k', secretAccessKey: 'k' },
    requestHandler: new NodeHttpHandler(),
  })
  const messages = [{ role: 'user', content: 'hi' }]
  const body = JSON.stringify({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages })
  const asked = { modelId: 'anthropic.claude-3-5-sonnet-20241022-v2:0', contentType: 'application/json', body }
  async function show(name) {
    const answer = await client.send(new bedrock.InvokeModelWithResponseStreamCommand(asked))
    const types = []
    for await (const { chunk } of answer.body) types.push(JSON.parse(Buffer.from(chunk.bytes)).type)
    console.log(`${name}: ${types.join(' ')}`)
  }
  await show('before')
  const instrumentation = new BedrockInstrumentation()
  instrumentation.setTracerProvider(new NodeTracerProvider())
  instrumentation.manuallyInstrument(bedrock)
  await show('instrumented')
  process.exit()
})
JS
seen=$(node "$folder/run.cjs")
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
