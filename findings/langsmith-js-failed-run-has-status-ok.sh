#!/bin/sh
# langsmith 0.10.5 for JavaScript in its mode "otel": a traced function that throws, with OpenTelemetry's SDK.
#
# Its span should have the status ERROR. Its client sets OK when the run begins and ERROR when it ends, and OpenTelemetry keeps an OK
# whatever comes later. Only an event "exception" tells of the failure.
#
# Output seen:
#   status 1, events exception
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" langsmith@0.10.5 \
  @opentelemetry/api@1.10.0 @opentelemetry/context-async-hooks@2.12.0 @opentelemetry/sdk-trace-base@2.12.0 \
  @opentelemetry/exporter-trace-otlp-proto@0.301.1
cat > "$folder/run.mjs" <<'JS'
import { setTimeout as sleep } from 'node:timers/promises'

Object.assign(process.env, { LANGSMITH_TRACING: 'true', LANGSMITH_TRACING_MODE: 'otel', LANGSMITH_API_KEY: 'none' })
const { initializeOTEL } = await import('langsmith/experimental/otel/setup')
const { traceable } = await import('langsmith/traceable')
const { DEFAULT_LANGSMITH_SPAN_EXPORTER: exporter, DEFAULT_LANGSMITH_SPAN_PROCESSOR: processor } = initializeOTEL()
exporter.export = (spans, done) => {
  for (const { status, events } of spans) console.log(`status ${status.code}, events ${events.map(({ name }) => name).join(' ')}`)
  done({ code: 0 })
}
const step = traceable(
  async () => {
    await sleep(500)
    throw new Error('no')
  },
  { name: 'step' },
)
await step().catch(() => {})
await processor.shutdown()
process.exit()
JS
seen=$(node "$folder/run.mjs" 2>/dev/null)
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
