#!/bin/sh
# @tanstack/ai 0.58.0 with @tanstack/ai-openai 0.23.1 and its otelMiddleware: a request that the provider answers with 400, once as a
# stream and once with `stream: false`.
#
# Both should have spans that failed. With `stream: false` the promise is rejected, and no hook of a middleware is called after onStart:
# its spans never end, and none is exported.
#
# Output seen:
#   stream: onStart onError, spans that failed 2
#   promise: onStart, spans that failed 0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" @tanstack/ai@0.58.0 \
  @tanstack/ai-openai@0.23.1 @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-node@2.12.0
cat > "$folder/run.mjs" <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { chat } from '@tanstack/ai'
import { otelMiddleware } from '@tanstack/ai/middlewares/otel'
import { createOpenaiChat } from '@tanstack/ai-openai'

const server = createServer((request, response) => {
  request.resume()
  response.writeHead(400, { 'content-type': 'application/json' })
  response.end('{"error": {"message": "no such model", "type": "invalid_request_error"}}')
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const baseURL = `http://127.0.0.1:${server.address().port}`
const adapter = createOpenaiChat('gpt-5', 'k', { baseURL, maxRetries: 0 })
for (const name of ['stream', 'promise']) {
  const called = []
  const hooks = Object.fromEntries(
    ['onStart', 'onError', 'onFinish', 'onAbort'].map((hook) => [hook, () => void called.push(hook)]),
  )
  const middleware = [otelMiddleware({ tracer: provider.getTracer('shop') }), { name: 'hooks', ...hooks }]
  const answer = chat({ adapter, middleware, stream: name === 'stream', messages: [{ role: 'user', content: 'hi' }] })
  if (name === 'stream') for await (const _ of answer);
  else await answer.catch(() => {})
  const failed = exporter.getFinishedSpans().filter(({ status }) => status.code === 2)
  console.log(`${name}: ${called.join(' ')}, spans that failed ${failed.length}`)
  exporter.reset()
}
process.exit()
JS
seen=$(node "$folder/run.mjs" 2>/dev/null | grep 'spans that')
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
