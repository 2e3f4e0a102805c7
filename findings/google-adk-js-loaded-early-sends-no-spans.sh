#!/bin/sh
# @google/adk 2.0.0 for JavaScript in a program that has @opentelemetry/api 1.10.0, the newest.
#
# OpenTelemetry's API lets a library ask for its tracer at any time: it works once a provider is registered. Here it depends
# on the order. The package wants exactly 1.9.0 and so brings a second copy of the API; its tracer, made as it is loaded,
# waits for a provider of that copy. Loaded before the program registers its provider, which is how imports at the top of a
# file run, it sends no span and no warning; loaded after it, all of them.
#
# Output seen:
#   loaded first:
#   provider first: invocation invoke_agent host
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @google/adk@2.0.0 @google/genai@3.3.0 \
  @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0 > /dev/null 2>&1
cat > run.mjs <<'JS'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'

const early = process.argv[2] === 'early' ? await import('@google/adk') : null
const spans = new InMemorySpanExporter()
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).register()
const adk = early ?? (await import('@google/adk'))
class Model extends adk.BaseLlm {
  async *generateContentAsync() {
    yield { content: { role: 'model', parts: [{ text: 'ho' }] }, finishReason: 'STOP' }
  }
}
const agent = new adk.LlmAgent({ name: 'host', model: new Model({ model: 'own' }) })
const runner = new adk.InMemoryRunner({ agent, appName: 'app' })
await runner.sessionService.createSession({ appName: 'app', userId: 'u', sessionId: 's' })
const newMessage = { role: 'user', parts: [{ text: 'hi' }] }
let count = 0
for await (const _ of runner.runAsync({ userId: 'u', sessionId: 's', newMessage })) count += 1
if (count === 0) throw new Error('no answer')
const names = spans.getFinishedSpans().map(({ name }) => name)
console.log(names.filter((name) => /^invo/.test(name)).sort().join(' '))
JS
early=$(node run.mjs early 2>/dev/null)
late=$(node run.mjs late 2>/dev/null)
echo "loaded first: $early"
echo "provider first: $late"
[ -z "$early" ] && [ "$late" = 'invocation invoke_agent host' ]
