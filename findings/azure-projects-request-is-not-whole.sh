#!/bin/sh
# Azure's AIProjectInstrumentor (azure-ai-projects==2.10.0, with recording of contents) around openai==3.57.0 and Responses: a
# question in three ways, as a text, as a message, and as one before the call of a tool and its result.
#
# The span should have what was sent, whichever way: gen_ai.input.messages are the history that the model was given. A message
# whose content is a text has its role alone, and a request with the result of a tool has that alone: its question and the call
# are nowhere.
#
# Output seen:
#   text: user What is the weather?
#   message: user
#   message, function_call, function_call_output: tool It is sunny.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check azure-ai-projects==2.10.0 azure-core-tracing-opentelemetry==1.0.0b13 \
  openai==3.57.0 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import http.server, json, os, threading

os.environ["AZURE_EXPERIMENTAL_ENABLE_GENAI_TRACING"] = "true"
import openai
from azure.ai.projects.telemetry import AIProjectInstrumentor
from azure.core.settings import settings
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

TEXT = {"type": "output_text", "text": "hi", "annotations": []}
ANSWER = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed", "tools": [], "tool_choice": "auto",
    "parallel_tool_calls": True, "output": [{"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [TEXT]}],
}
QUESTION = {"role": "user", "content": "What is the weather?"}
CALL = {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "It is sunny."}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200), self.send_header("content-type", "application/json"), self.end_headers()
        self.wfile.write(json.dumps(ANSWER).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans)), trace.set_tracer_provider(provider)
settings.tracing_implementation = "opentelemetry"
AIProjectInstrumentor().instrument(enable_content_recording=True)
client = openai.OpenAI(api_key="k", base_url=f"http://127.0.0.1:{server.server_port}/v1")
for sent in (QUESTION["content"], [QUESTION], [QUESTION, CALL, RESULT]):
    client.responses.create(model="gpt-5", input=sent)
    kinds = ["text"] if isinstance(sent, str) else [item.get("type", "message") for item in sent]
    has = json.loads(spans.get_finished_spans()[-1].attributes["gen_ai.input.messages"])
    texts = [[one["role"], *(part.get("content") or part["result"] for part in one.get("parts", []))] for one in has]
    print(f"{', '.join(kinds)}: {', '.join(' '.join(text) for text in texts)}")
PY
seen=$("$folder/venv/bin/python" "$folder/run.py" 2> "$folder/log" || cat "$folder/log")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
