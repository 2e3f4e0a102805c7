#!/bin/sh
# openinference-instrumentation-google-adk==1.0.5 with google-adk==2.13.0: one run of an agent that asks the model, calls a tool and
# asks again, of 100 and of 200 input tokens.
#
# Each request should have a span of the kind LLM with its counts and its answer. There is one for both, the span of the agent: it
# has the counts of the last request, those of the first are on no span, and beside the last answer it has the call of the first.
#
# Output seen:
#   requests: 2, of 100 and 200 input tokens
#   invoke_agent forecaster: LLM, 200 input tokens; answer: text It is sunny., call get_weather
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check google-adk==2.13.0 google-genai==2.34.0 \
  openinference-instrumentation-google-adk==1.0.5 opentelemetry-sdk==1.44.0
cat > "$folder/run.py" <<'PY'
import asyncio, http.server, json, os, threading

ASKED = []

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        ASKED.append(self.rfile.read(int(self.headers["content-length"])))
        part = {"functionCall": {"id": "c", "name": "get_weather", "args": {}}} if len(ASKED) == 1 else {"text": "It is sunny."}
        usage = {"promptTokenCount": 100 * len(ASKED), "candidatesTokenCount": 5, "totalTokenCount": 100 * len(ASKED) + 5}
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, "finishReason": "STOP"}
        self.send_response(200), self.send_header("content-type", "application/json"), self.end_headers()
        self.wfile.write(json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ.update(GOOGLE_API_KEY="k", GOOGLE_GEMINI_BASE_URL=f"http://127.0.0.1:{server.server_port}")
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from openinference.instrumentation.google_adk import GoogleADKInstrumentor
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans)), trace.set_tracer_provider(provider)
GoogleADKInstrumentor().instrument(tracer_provider=provider)

def get_weather() -> str:
    return "sunny"
agent = LlmAgent(name="forecaster", model="gemini-2.5-pro", tools=[get_weather])
asyncio.run(InMemoryRunner(agent=agent, app_name="program").run_debug("What is the weather?", quiet=True))
print(f"requests: {len(ASKED)}, of 100 and 200 input tokens")
for span in spans.get_finished_spans():
    has = span.attributes
    if has.get("openinference.span.kind") == "LLM":
        parts = ("contents.0.message_content.text", "tool_calls.0.tool_call.function.name")
        text, call = (has.get(f"llm.output_messages.0.message.{part}") for part in parts)
        print(f"{span.name}: LLM, {has['llm.token_count.prompt']} input tokens; answer: text {text}, call {call}")
PY
seen=$("$folder/venv/bin/python" "$folder/run.py" 2> "$folder/log" || cat "$folder/log")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
