#!/bin/sh
# langsmith 0.10.5 for JavaScript in its mode "otel": a traced function that calls another one, and the same with a traced generator, as
# its wrapper of OpenAI's client has for a streamed response.
#
# Each should have a span below that of its caller. The generator has none: its run is written into the span of the function around it,
# which keeps its name and loses its own run, input and output.
#
# Output seen:
#   function: span inner has the run inner, span outer has the run outer
#   generator: span outer has the run inner
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps --prefix "$folder" langsmith@0.10.5 \
  @opentelemetry/api@1.10.0 @opentelemetry/context-async-hooks@2.12.0 @opentelemetry/sdk-trace-base@2.12.0 \
  @opentelemetry/exporter-trace-otlp-proto@0.301.1
cat > "$folder/run.mjs" <<'JS'
Object.assign(process.env, { LANGSMITH_TRACING: 'true', LANGSMITH_TRACING_MODE: 'otel', LANGSMITH_API_KEY: 'none' })
const { initializeOTEL } = await import('langsmith/experimental/otel/setup')
const { traceable } = await import('langsmith/traceable')
const { DEFAULT_LANGSMITH_SPAN_EXPORTER: exporter, DEFAULT_LANGSMITH_SPAN_PROCESSOR: processor } = initializeOTEL()
const sent = []
exporter.export = (spans, done) => {
  sent.push(...spans)
  done({ code: 0 })
}
const whole = traceable(async () => 'ho', { name: 'inner', run_type: 'llm' })
const stream = traceable(
  async function* () {
    yield 'h'
    yield 'o'
  },
  { name: 'inner', run_type: 'llm' },
)
const [, , kind] = process.argv
const outer = traceable(
  async () => {
    if (kind === 'function') await whole('hi')
    else for await (const _ of stream('hi'));
    return 'done'
  },
  { name: 'outer' },
)
await outer()
await processor.shutdown()
const runs = sent.map(({ name, attributes }) => `span ${name} has the run ${attributes['langsmith.trace.name']}`)
console.log(`${kind}: ${runs.sort().join(', ')}`)
process.exit()
JS
seen=$(for kind in function generator; do node "$folder/run.mjs" "$kind" 2>/dev/null; done)
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
