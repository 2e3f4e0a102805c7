#!/bin/sh
# @strands-agents/sdk 1.19.0 for JavaScript with its OpenAI model: one agent, one call of a tool.
#
# The call is in two events: gen_ai.choice of the request that it answers, and gen_ai.assistant.message of the next one. Both
# should write it alike. The first has the fields of a block beside its type, the second has them below a key toolUse, as
# the Python package writes both. The scope of the spans is the name of the service, so that it names no library:
# gen_ai.system does, but the spans of a cycle have none.
#
# Output seen:
#   choice: [{"type":"toolUse","name":"add","toolUseId":"c1","input":{"a":1}}]
#   assistant: [{"toolUse":{"name":"add","toolUseId":"c1","input":{"a":1}}}]
#   scope: shop
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @strands-agents/sdk@1.19.0 zod@4.6.7 \
  @modelcontextprotocol/sdk@1.32.2 openai@7.59.0 @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0 > /dev/null 2>&1
cat > run.mjs <<'JS'
import { createServer } from 'node:http'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { Agent, tool } from '@strands-agents/sdk'
import { OpenAIModel } from '@strands-agents/sdk/models/openai'
import { z } from 'zod'

const call = { index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
let asked = 0
const server = createServer((request, response) => {
  request.resume()
  asked += 1
  const [delta, finish_reason] = asked === 1 ? [{ tool_calls: [call] }, 'tool_calls'] : [{ content: 'ho' }, 'stop']
  const chunk = (choice) => `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(chunk({ delta: { role: 'assistant', ...delta } }) + chunk({ delta: {}, finish_reason }) + 'data: [DONE]\n\n')
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const spans = new InMemorySpanExporter()
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).register()
const clientConfig = { baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 }
const model = new OpenAIModel({ api: 'chat', modelId: 'm', apiKey: 'none', clientConfig })
const add = tool({ name: 'add', description: 'Adds.', inputSchema: z.object({ a: z.number() }), callback: () => '2' })
await new Agent({ model, tools: [add], printer: false }).invoke('hi')
const chats = spans.getFinishedSpans().filter(({ name }) => name === 'chat')
const event = (span, name) => span.events.find((one) => one.name === name).attributes
console.log(`choice: ${event(chats[0], 'gen_ai.choice').message}`)
console.log(`assistant: ${event(chats[1], 'gen_ai.assistant.message').content}`)
console.log(`scope: ${chats[0].instrumentationScope.name}`)
process.exit()
JS
seen=$(OTEL_SERVICE_NAME=shop node run.mjs 2>/dev/null)
echo "$seen"
[ "$seen" = 'choice: [{"type":"toolUse","name":"add","toolUseId":"c1","input":{"a":1}}]
assistant: [{"toolUse":{"name":"add","toolUseId":"c1","input":{"a":1}}}]
scope: shop' ]
