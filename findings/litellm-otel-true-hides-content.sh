#!/bin/sh
# LiteLLM's OpenTelemetry callback (litellm 1.110.2) and OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, by which other
# instrumentors show messages when it is "true".
#
# Without the variable the callback has the messages in its span, and a child span has what was sent and answered as it
# was. With "true" one would expect the same or more: the messages are gone, and the child span is, too. "SPAN_ONLY" shows
# both again. Nothing is logged about the value.
#
# Output seen:
#   unset: 2 spans, messages
#   true: 1 span, no messages
#   SPAN_ONLY: 2 spans, messages
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check litellm==1.110.2 opentelemetry-sdk==1.45.2 \
  opentelemetry-exporter-otlp-proto-http==1.45.2
cat > "$folder/run.py" <<'PY'
import http.server, json, sys, threading, time

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import litellm
from litellm.integrations.opentelemetry import OpenTelemetry, OpenTelemetryConfig

MESSAGE = {"role": "assistant", "content": "Hello."}
ANSWER = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(ANSWER).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
litellm.callbacks = [OpenTelemetry(config=OpenTelemetryConfig(exporter=None), tracer_provider=provider)]
url = f"http://127.0.0.1:{server.server_port}"
litellm.completion(model="openai/gpt-5", api_base=url, api_key="x", messages=[{"role": "user", "content": "hi"}])
time.sleep(3)
found = spans.get_finished_spans()
has = any("Hello." in str(value) for span in found for value in span.attributes.values())
print(f"{sys.argv[1]}: {len(found)} span{'s' * (len(found) > 1)}, {'' if has else 'no '}messages")
PY
run() { LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" "$folder/run.py" "$1" 2>/dev/null; }
seen=$(run unset; for value in true SPAN_ONLY; do OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=$value run $value; done)
echo "$seen"
[ "$(echo $seen)" = 'unset: 2 spans, messages true: 1 span, no messages SPAN_ONLY: 2 spans, messages' ]
