#!/bin/sh
# Future AGI's traceAI (traceai-openai==0.1.10) around openai==3.57.0 and Responses: an answer of a reasoning item with a summary,
# and a message.
#
# The first of the span's output messages should be the answer; thoughts are a part of the type `reasoning` in the conventions
# whose keys it uses. The summary of the thoughts is a message of the assistant of its own, of the type `text` and before the
# answer, which nothing tells from one. output.value is not JSON, but what Python prints, beside an input.mime_type of JSON.
#
# Output seen:
#   0 assistant text: I should greet.
#   1 assistant text: Hello.
#   output.value begins with {'id': 'resp_1'
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check traceai-openai==0.1.10 fi-instrumentation-otel==1.1.0 openai==3.57.0 \
  opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import http.server, json, threading

import openai
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from traceai_openai import OpenAIInstrumentor

THOUGHT = {"id": "r", "type": "reasoning", "summary": [{"type": "summary_text", "text": "I should greet."}]}
TEXT = {"type": "output_text", "text": "Hello.", "annotations": []}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [TEXT]}
ANSWER = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed", "tools": [], "tool_choice": "auto",
    "parallel_tool_calls": True, "output": [THOUGHT, MESSAGE],
}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200), self.send_header("content-type", "application/json"), self.end_headers()
        self.wfile.write(json.dumps(ANSWER).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
OpenAIInstrumentor().instrument(tracer_provider=provider)
client = openai.OpenAI(api_key="k", base_url=f"http://127.0.0.1:{server.server_port}/v1")
client.responses.create(model="gpt-5", input="hi")
has = spans.get_finished_spans()[-1].attributes
for number in range(2):
    at = f"gen_ai.output.messages.{number}.message"
    part = f"{at}.contents.0.message_content"
    print(number, has[f"{at}.role"], has[f"{part}.type"] + ":", has[f"{part}.text"])
print("output.value begins with", has["output.value"][:15])
PY
seen=$("$folder/venv/bin/python" "$folder/run.py" 2> "$folder/log" || cat "$folder/log")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
