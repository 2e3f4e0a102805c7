#!/bin/sh
# @mariozechner/pi-ai 0.73.1 (the library below the agent pi), by its api openai-completions.
#
# In the usage of OpenAI's chats, cached_tokens are those read from a cache and cache_write_tokens those written to it. Of 100
# input tokens, 40 read and 30 written, one expects 40 read, 30 written and 30 neither. It says 10, 30 and 60: what was
# written is taken off what was read, so that 30 tokens have the price of input. By anthropic-messages the same numbers are right.
#
# Output seen:
#   openai-completions: input 60, read 10, written 30
#   anthropic-messages: input 30, read 40, written 30
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @mariozechner/pi-ai@0.73.1
cat > try.mjs <<'JS'
import { createServer } from 'node:http'
import { complete } from '@mariozechner/pi-ai'

const usage = {
  prompt_tokens: 100, completion_tokens: 5, total_tokens: 105,
  prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 30 },
}
const read = { input_tokens: 30, cache_read_input_tokens: 40, cache_creation_input_tokens: 30, output_tokens: 5 }
const chat = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] },
  { choices: [], usage },
].map((chunk) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...chunk })}\n\n`)
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage: read }
const events = [
  { type: 'message_start', message },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: read },
  { type: 'message_stop' },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(request.url.includes('/messages') ? events.join('') : `${chat.join('')}data: [DONE]\n\n`)
}).listen(0, '127.0.0.1', async () => {
  const address = `http://127.0.0.1:${server.address().port}`
  for (const [api, baseUrl] of [['openai-completions', `${address}/v1`], ['anthropic-messages', address]]) {
    const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const model = { id: 'm', name: 'm', api, provider: 'own', baseUrl, reasoning: false, input: ['text'], cost, contextWindow: 9999, maxTokens: 99 }
    const messages = [{ role: 'user', content: 'hi', timestamp: 1 }]
    const { usage: told } = await complete(model, { messages }, { apiKey: 'x' })
    console.log(`${api}: input ${told.input}, read ${told.cacheRead}, written ${told.cacheWrite}`)
  }
  process.exit()
})
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
openai-completions: input 60, read 10, written 30
anthropic-messages: input 30, read 40, written 30
SEEN
