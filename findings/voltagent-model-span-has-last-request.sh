#!/bin/sh
# @voltagent/core 2.10.0 with ai 6.0.326: one agent, one call of a tool, and so two requests to the model.
#
# Each request should have a span with its tokens. There is one span llm:generateText for both, with the counts of the last
# one alone; only the agent has the sum, in usage.prompt_tokens. The span of the model has the messages of the first request
# and no answer, which is on the agent, too.
#
# Output seen: requests 2 llm:generateText=200 host=300
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @voltagent/core@2.10.0 @voltagent/logger@2.0.2 \
  ai@6.0.326 zod@4.6.7 @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0 > /dev/null 2>&1
cat > run.mjs <<'JS'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { Agent, createTool, VoltAgentObservability } from '@voltagent/core'
import { MockLanguageModelV3 } from 'ai/test'
import { z } from 'zod'

const spans = new InMemorySpanExporter()
const observability = new VoltAgentObservability({ spanProcessors: [new SimpleSpanProcessor(spans)] })
let asked = 0
const model = new MockLanguageModelV3({
  modelId: 'm',
  async doGenerate() {
    asked += 1
    const content =
      asked === 1
        ? [{ type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1}' }]
        : [{ type: 'text', text: 'ho' }]
    const unified = asked === 1 ? 'tool-calls' : 'stop'
    const usage = { inputTokens: { total: 100 * asked }, outputTokens: { total: 1 } }
    return { content, finishReason: { unified, raw: unified }, usage, warnings: [] }
  },
})
const add = createTool({ name: 'add', description: 'Adds.', parameters: z.object({ a: z.number() }), execute: async () => '2' })
await new Agent({ name: 'host', instructions: 'Be brief.', model, observability, tools: [add] }).generateText('hi')
const has = spans.getFinishedSpans().map(({ name, attributes }) => [
  name,
  attributes['llm.usage.prompt_tokens'] ?? attributes['usage.prompt_tokens'],
])
console.log(`requests ${asked}`)
console.log(has.filter(([, count]) => count !== undefined).map((pair) => pair.join('=')).join(' '))
process.exit()
JS
seen=$(node run.mjs 2>/dev/null | grep -E '^(requests|llm:)' | tr '\n' ' ')
echo "$seen"
[ "$seen" = 'requests 2 llm:generateText=200 host=300 ' ]
