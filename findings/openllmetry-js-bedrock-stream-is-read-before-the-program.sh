#!/bin/sh
# @traceloop/instrumentation-bedrock 0.27.0 (OpenLLMetry for JavaScript) with @aws-sdk/client-bedrock-runtime 3.1162.0 and a streamed
# response of Claude, InvokeModelWithResponseStream.
#
# The program should get the chunks as they come. The instrumentation reads them all for its span before it returns the response. The
# program gets the first one again, which AWS's client keeps, and neither the text nor the end.
#
# Output seen:
#   before: message_start content_block_delta message_delta message_stop
#   instrumented: message_start
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" \
  @traceloop/instrumentation-bedrock@0.27.0 @aws-sdk/client-bedrock-runtime@3.1162.0 @smithy/node-http-handler@4.14.2 \
  @smithy/eventstream-codec@4.5.2 @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0
cat > "$folder/run.cjs" <<'JS'
const { EventStreamCodec } = require('@smithy/eventstream-codec')
const bedrock = require('@aws-sdk/client-bedrock-runtime')
const { NodeHttpHandler } = require('@smithy/node-http-handler')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const { BedrockInstrumentation } = require('@traceloop/instrumentation-bedrock')
const codec = new EventStreamCodec((bytes) => Buffer.from(bytes).toString(), (text) => Buffer.from(text))
const text = (value) => ({ type: 'string', value })
const headers = { ':message-type': text('event'), ':event-type': text('chunk'), ':content-type': text('application/json') }
const json = (value) => Buffer.from(JSON.stringify(value))
const chunk = (part) => codec.encode({ headers, body: json({ bytes: json(part).toString('base64') }) })
const parts = [
  { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 10, output_tokens: 1 } } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ho' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 10, outputTokenCount: 7 } },
]
const server = require('node:http').createServer((request, response) => {
  request.resume()
  response.setHeader('content-type', 'application/vnd.amazon.eventstream').end(Buffer.concat(parts.map((part) => Buffer.from(chunk(part)))))
})
server.listen(0, '127.0.0.1', async () => {
  const endpoint = `http://127.0.0.1:${server.address().port}`
  const credentials = { accessKeyId: 'k', secretAccessKey: 'k' }
  const options = { region: 'us-east-1', endpoint, credentials, requestHandler: new NodeHttpHandler() }
  const body = '{"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}'
  const asked = { modelId: 'anthropic.claude-3-5-sonnet-20241022-v2:0', contentType: 'application/json', body }
  async function show(name) {
    const answer = await new bedrock.BedrockRuntimeClient(options).send(new bedrock.InvokeModelWithResponseStreamCommand(asked))
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
