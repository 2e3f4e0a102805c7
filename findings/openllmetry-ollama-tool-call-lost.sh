#!/bin/sh
# OpenLLMetry's instrumentor for Ollama (opentelemetry-instrumentation-ollama 0.62.4) with ollama 0.6.3 for Python.
#
# The span of an answer that calls a tool should name the tool and its arguments, as the tools that were offered are named.
# Its completion has a role alone: the call is in no attribute, so that the answer of an agent's step looks empty.
#
# Output seen:
#   client: get_weather {'city': 'Paris'}
#   span: offered get_weather, completion {'role': 'assistant'}, Paris nowhere
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check ollama==0.6.3 \
  opentelemetry-instrumentation-ollama==0.62.4 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import http.server, json, threading

from opentelemetry.instrumentation.ollama import OllamaInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

CALL = {"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}
ANSWER = {
    "model": "llama3", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop",
    "prompt_eval_count": 1000, "eval_count": 300, "message": {"role": "assistant", "content": "", "tool_calls": [CALL]},
}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(ANSWER).encode())
    def log_message(self, *args):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
OllamaInstrumentor().instrument(tracer_provider=provider)
import ollama

client = ollama.Client(host=f"http://127.0.0.1:{server.server_port}")
answer = client.chat(model="llama3", messages=[{"role": "user", "content": "hi"}], tools=[TOOL])
called = answer.message.tool_calls[0].function
print("client:", called.name, dict(called.arguments))
has = spans.get_finished_spans()[0].attributes
completion = {key.removeprefix("gen_ai.completion.0."): value for key, value in has.items() if "completion.0" in key}
assert not [value for value in has.values() if "Paris" in str(value)], dict(has)
print(f"span: offered {has['llm.request.functions.0.name']}, completion {completion}, Paris nowhere")
PY
seen=$("$folder/venv/bin/python" "$folder/run.py")
echo "$seen"
[ "$(echo "$seen" | tail -n 1)" = "span: offered get_weather, completion {'role': 'assistant'}, Paris nowhere" ]
