#!/bin/sh
# langsmith 0.10.5 for JavaScript in its mode "otel", with OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS, which its exporter
# reads.
#
# OpenTelemetry's SDKs add v1/traces to this address, and decode the values of the headers. Its exporter sends to the address as it
# stands and leaves %20 in the header, so that a receiver answers 404 or 401 and the spans are lost.
#
# Output seen:
#   OpenTelemetry: POST /v1/traces Bearer key
#   LangSmith: POST / Bearer%20key
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" langsmith@0.10.5 \
  @opentelemetry/api@1.10.0 @opentelemetry/context-async-hooks@2.12.0 @opentelemetry/sdk-trace-base@2.12.0 \
  @opentelemetry/exporter-trace-otlp-proto@0.301.1
cat > "$folder/run.mjs" <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

let name = 'OpenTelemetry'
const server = createServer((request, response) => {
  console.log(`${name}: ${request.method} ${request.url} ${request.headers.authorization}`)
  request.resume().on('end', () => response.end())
}).listen(0, '127.0.0.1')
await once(server, 'listening')
Object.assign(process.env, {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.address().port}`,
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key',
  LANGSMITH_TRACING: 'true',
  LANGSMITH_TRACING_MODE: 'otel',
  LANGSMITH_API_KEY: 'none',
})
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())] })
provider.getTracer('shop').startSpan('own').end()
await provider.shutdown()
name = 'LangSmith'
const { initializeOTEL } = await import('langsmith/experimental/otel/setup')
const { traceable } = await import('langsmith/traceable')
const { DEFAULT_LANGSMITH_SPAN_PROCESSOR: processor } = initializeOTEL()
await traceable(() => 'ho', { name: 'step' })()
await processor.shutdown()
process.exit()
JS
seen=$(node "$folder/run.mjs")
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
