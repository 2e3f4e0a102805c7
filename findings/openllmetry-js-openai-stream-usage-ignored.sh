#!/bin/sh
# @traceloop/instrumentation-openai 0.27.0 (OpenLLMetry for JavaScript) with openai 6.18.0 and a streamed chat whose last chunk has
# the usage, as `stream_options: {include_usage: true}` requests it: 1,000 tokens in, 200 out, most of them reasoning.
#
# The client gets the usage, and the span should have it, as that of the same chat without a stream has. It has none. With
# `enrichTokens: true` it has an estimate by tiktoken of the visible texts, 1 and 1, although the numbers came with the stream.
#
# Output seen:
#   whole: 1000 200
#   stream: undefined undefined
#   stream, enrichTokens: 1 1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" \
  @traceloop/instrumentation-openai@0.27.0 openai@6.18.0 @opentelemetry/sdk-trace-node@2.12.0
cat > "$folder/run.mjs" <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai'
import OpenAI from 'openai'

const usage = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 }
const head = { id: 'c', created: 1, model: 'gpt-5' }
const chunk = (more) => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`
const say = (delta, finish_reason) => chunk({ choices: [{ index: 0, delta, finish_reason }] })
const stream = `${say({ role: 'assistant', content: 'Hello' }, null)}${say({}, 'stop')}${chunk({ choices: [], usage })}data: [DONE]\n\n`
const message = { role: 'assistant', content: 'Hello' }
const whole = { ...head, object: 'chat.completion', usage, choices: [{ index: 0, message, finish_reason: 'stop' }] }
const server = createServer(async (request, response) => {
  const { stream: isStream } = JSON.parse(Buffer.concat(await request.toArray()))
  response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
  response.end(isStream ? stream : JSON.stringify(whole))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const instrumentation = new OpenAIInstrumentation({ enrichTokens: false })
instrumentation.setTracerProvider(provider)
instrumentation.manuallyInstrument(OpenAI)
const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}`, maxRetries: 0 })
const chat = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] }
await client.chat.completions.create(chat)
for (const enrichTokens of [false, true]) {
  instrumentation.setConfig({ enrichTokens })
  const options = { ...chat, stream: true, stream_options: { include_usage: true } }
  for await (const _ of await client.chat.completions.create(options));
  await sleep(500)
}
for (const [at, { attributes }] of exporter.getFinishedSpans().entries()) {
  const name = ['whole', 'stream', 'stream, enrichTokens'][at]
  console.log(`${name}: ${attributes['gen_ai.usage.input_tokens']} ${attributes['gen_ai.usage.output_tokens']}`)
}
server.close()
JS
seen=$(node "$folder/run.mjs")
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
