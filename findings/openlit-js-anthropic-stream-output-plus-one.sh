#!/bin/sh
# openlit@1.15.0 (npm) with @anthropic-ai/sdk@0.80.0, one streamed answer: message_start names 1 output token, message_delta 7.
#
# The second number is cumulative, so that gen_ai.usage.output_tokens should be 7, as it is of the same answer without a stream.
# It is 8, the sum of both. gen_ai.usage.input_tokens is 10 of 3,210: the cached ones are beside it alone.
#
# Output seen:
#   input 10 output 7 cache_creation.input 200 cache_read.input 3000
#   input 10 output 8 cache_creation.input 200 cache_read.input 3000
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" openlit@1.15.0 \
  @anthropic-ai/sdk@0.80.0 @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0
cat > "$folder/run.cjs" <<'JS'
const { createServer } = require('node:http')
const openlit = require('openlit').default
const anthropic = require('@anthropic-ai/sdk')
const input = { input_tokens: 10, cache_read_input_tokens: 3000, cache_creation_input_tokens: 200 }
const head = { id: 'm', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_sequence: null }
const whole = { ...head, content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn', usage: { ...input, output_tokens: 7 } }
const events = [
  { type: 'message_start', message: { ...head, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
]
const server = createServer(async (request, response) => {
  let text = ''
  for await (const part of request) text += part
  const isStream = JSON.parse(text).stream
  response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
  response.end(isStream ? events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join('') : JSON.stringify(whole))
})
server.listen(0, '127.0.0.1', async () => {
  openlit.init({ applicationName: 'shop', pricingJson: {}, disableMetrics: true, disableEvents: true, instrumentations: { anthropic } })
  const client = new anthropic.Anthropic({ apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}` })
  const messages = [{ role: 'user', content: 'hi' }]
  await client.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 9, messages })
  for await (const _ of await client.messages.create({ model: 'claude-sonnet-4-5', max_tokens: 9, messages, stream: true }));
  process.exit()
})
JS
# Its spans go to the console, the first of them that of the whole answer.
seen=$(OTEL_TRACES_EXPORTER=console node "$folder/run.cjs" 2>&1 |
  sed -nE "s/^ *'gen_ai\.usage\.(input|output|cache_read\.input|cache_creation\.input)_tokens': ([0-9]+),$/\1 \2/p" | paste -d' ' - - - -)
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
