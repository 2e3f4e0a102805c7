#!/bin/sh
# openlit==1.45.0 with groq==1.7.0 for Python: two requests that succeed, one of them answered by the call of a tool.
#
# Both spans should be of requests that succeeded, with their counts. The program gets the call of the tool; its span has the
# status of an error, the exception that OpenLIT ran into while it wrote the span, and no count of tokens.
#
# Output seen:
#   answer with a text: span OK, input tokens 10
#   answer with the call get_weather: span ERROR, input tokens None, AttributeError: 'list' object has no attribute 'get'
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check openlit==1.45.0 groq==1.7.0 opentelemetry-api==1.45.1 \
  opentelemetry-sdk==1.45.1 opentelemetry-exporter-otlp==1.45.1 opentelemetry-instrumentation==0.66b1
cat > "$folder/run.py" <<'PY'
import http.server, json, threading

import groq, openlit
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

CALL = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"content": None, "tool_calls": [CALL]} if "tools" in asked else {"content": "hi"}
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop", "logprobs": None}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "llama", "choices": [choice], "usage": usage}
        self.send_response(200), self.send_header("content-type", "application/json"), self.end_headers()
        self.wfile.write(json.dumps(answer).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans)), trace.set_tracer_provider(provider)
openlit.init(pricing_json="{}", disable_metrics=True, disable_events=True)
client = groq.Groq(api_key="k", base_url=f"http://127.0.0.1:{server.server_port}")
for more in ({}, {"tools": [TOOL]}):
    answer = client.chat.completions.create(model="llama", messages=[{"role": "user", "content": "hi"}], **more)
    called = answer.choices[0].message.tool_calls
    span = [span for span in spans.get_finished_spans() if "groq" in span.instrumentation_scope.name][-1]
    errors = [f"{event.attributes['exception.type']}: {event.attributes['exception.message']}" for event in span.events if event.name == "exception"]
    tokens = f"input tokens {span.attributes.get('gen_ai.usage.input_tokens')}"
    told = f"the call {called[0].function.name}" if called else "a text"
    print(f"answer with {told}: span {', '.join([span.status.status_code.name, tokens, *errors])}")
PY
seen=$("$folder/venv/bin/python" "$folder/run.py" 2> "$folder/log" || cat "$folder/log")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
