#!/bin/sh
# OpenLLMetry around Anthropic's client, of a request of 100 new, 600 cached and 300 newly cached input tokens: for Python
# opentelemetry-instrumentation-anthropic 0.62.4 with anthropic 2.14.0, for JavaScript @traceloop/instrumentation-anthropic 0.27.0
# with @anthropic-ai/sdk 0.80.0, the release that it is made for.
#
# Both write `gen_ai.usage.input_tokens`, and the cached counts beside it under the same names, so that the number should mean the
# same. In Python it is all input, as OpenTelemetry's conventions have it; in JavaScript it is the new tokens alone.
#
# Output seen:
#   Python: input 1000, cached 600, written 300, total 1007
#   JavaScript: input 100, cached 600, written 300, total 107
set -eu
folder=$(mktemp -d)
server=
trap 'kill $server; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check anthropic==2.14.0 \
  opentelemetry-instrumentation-anthropic==0.62.4 opentelemetry-sdk==1.45.2
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" \
  @traceloop/instrumentation-anthropic@0.27.0 @anthropic-ai/sdk@0.80.0 @opentelemetry/sdk-trace-node@2.12.0
cat > "$folder/server.mjs" <<'JS'
import { createServer } from 'node:http'
const usage = { input_tokens: 100, cache_read_input_tokens: 600, cache_creation_input_tokens: 300, output_tokens: 7 }
const head = { id: 'm', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'end_turn' }
const body = JSON.stringify({ ...head, content: [{ type: 'text', text: 'Hello' }], usage })
const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(body))
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
JS
cat > "$folder/run.py" <<'PY'
import sys, anthropic
from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
AnthropicInstrumentor().instrument(tracer_provider=provider)
anthropic.Anthropic(api_key="k", base_url=sys.argv[1]).messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
found = next(s for s in spans.get_finished_spans() if "anthropic" in s.instrumentation_scope.name).attributes
names = ("input_tokens", "cache_read.input_tokens", "cache_creation.input_tokens", "total_tokens")
print("Python: input {}, cached {}, written {}, total {}".format(*(found.get(f"gen_ai.usage.{name}") for name in names)))
PY
cat > "$folder/run.mjs" <<'JS'
import * as anthropic from '@anthropic-ai/sdk'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { AnthropicInstrumentation } from '@traceloop/instrumentation-anthropic'
const spans = new InMemorySpanExporter()
const instrumentation = new AnthropicInstrumentation()
instrumentation.setTracerProvider(new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
instrumentation.manuallyInstrument(anthropic)
await new anthropic.Anthropic({ apiKey: 'k', baseURL: process.argv[2] }).messages.create({ model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] })
const of = (name) => spans.getFinishedSpans()[0].attributes[`gen_ai.usage.${name}`]
const cache = `cached ${of('cache_read.input_tokens')}, written ${of('cache_creation.input_tokens')}`
console.log(`JavaScript: input ${of('input_tokens')}, ${cache}, total ${of('total_tokens')}`)
JS
node "$folder/server.mjs" > "$folder/url" &
server=$!
sleep 2
seen=$("$folder/venv/bin/python" "$folder/run.py" "$(cat "$folder/url")" && node "$folder/run.mjs" "$(cat "$folder/url")")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
