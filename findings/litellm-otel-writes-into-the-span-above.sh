#!/bin/sh
# litellm 1.110.2 with its OpenTelemetry callback, below a span that the program has begun itself.
#
# Two requests should give two spans of their own. There is none: the callback sets the attributes of both on the program's
# span, where the second overwrites the first, so that the tokens of one request are left. With the environment variable
# USE_OTEL_LITELLM_REQUEST_SPAN=true there are two spans named litellm_request.
#
# Output seen:
#   by default: program=12
#   with the variable: litellm_request=11 litellm_request=12
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check litellm==1.110.2 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import time

import litellm
from litellm.integrations.opentelemetry import OpenTelemetry, OpenTelemetryConfig
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
litellm.callbacks = [OpenTelemetry(config=OpenTelemetryConfig(exporter=None), tracer_provider=provider)]
with provider.get_tracer("program").start_as_current_span("program"):
    for count in (11, 12):
        usage = litellm.Usage(prompt_tokens=count, completion_tokens=1, total_tokens=count + 1)
        answer = litellm.ModelResponse(usage=usage)
        litellm.completion(model="gpt-5", messages=[{"role": "user", "content": "hi"}], mock_response=answer)
        time.sleep(1)
has = [(span.name, (span.attributes or {}).get("gen_ai.usage.input_tokens")) for span in spans.get_finished_spans()]
print(" ".join(f"{name}={count}" for name, count in has if count is not None))
PY
export LITELLM_LOCAL_MODEL_COST_MAP=True
default=$("$folder/venv/bin/python" "$folder/run.py" 2>/dev/null)
changed=$(USE_OTEL_LITELLM_REQUEST_SPAN=true "$folder/venv/bin/python" "$folder/run.py" 2>/dev/null)
echo "by default: $default"
echo "with the variable: $changed"
[ "$default" = 'program=12' ]
[ "$changed" = 'litellm_request=11 litellm_request=12' ]
