#!/bin/sh
# LiteLLM's OpenTelemetry callbacks (litellm 1.110.2) for a request of the Responses API whose input has, after the question,
# the reasoning, the tool call and the tool's result of the turn before.
#
# The callback "otel" should have these items in gen_ai.input.messages. It has a user with an empty text for each of them:
# who asked what is lost. The answer is a call again: the span that it writes for Langfuse ("langfuse_otel") has the call
# in langfuse.observation.output, but not in its own llm.output_messages, and 200 tokens written to a cache are in neither.
#
# Output seen:
#   otel: user "hi", user "", user "", user ""
#   langfuse_otel: output reasoning_summary, function_call; messages reasoning_summary; cache read 300, 200 nowhere
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
from litellm.integrations.langfuse.langfuse_otel import LangfuseOtelLogger
from litellm.integrations.opentelemetry import OpenTelemetry, OpenTelemetryConfig

USAGE = {
    "input_tokens": 1000, "input_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 200}, "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 1050,
}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I think."}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "now", "arguments": "{}", "status": "completed"}
ANSWER = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed", "tool_choice": "auto",
    "output": [THOUGHT, CALL], "parallel_tool_calls": True, "tools": [], "usage": USAGE,
}
SENT = [{"role": "user", "content": "hi"}, THOUGHT, CALL, {"type": "function_call_output", "call_id": "call_1", "output": "noon"}]

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
name = sys.argv[1]
kind = LangfuseOtelLogger if name == "langfuse_otel" else OpenTelemetry
options = {"callback_name": name} if kind is LangfuseOtelLogger else {}
litellm.callbacks = [kind(config=OpenTelemetryConfig(exporter=None), tracer_provider=provider, **options)]
litellm.responses(model="openai/gpt-5", api_base=f"http://127.0.0.1:{server.server_port}", api_key="x", input=SENT)
time.sleep(3)
(has,) = [span.attributes for span in spans.get_finished_spans() if span.name == "litellm_request"]
if kind is OpenTelemetry:
    said = [(item["role"], item["parts"][0]["content"]) for item in json.loads(has["gen_ai.input.messages"])]
    print("otel: " + ", ".join(f'{role} "{text}"' for role, text in said))
else:
    output = ", ".join(item.get("type") or item["role"] for item in json.loads(has["langfuse.observation.output"]))
    messages = ", ".join(key.split("message.")[1] for key in has if key.startswith("llm.output_messages"))
    assert not [key for key, value in has.items() if value == 200]
    read = has["llm.token_count.prompt_details.cache_read"]
    print(f"langfuse_otel: output {output}; messages {messages}; cache read {read}, 200 nowhere")
PY
run() { LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" "$folder/run.py" "$1" 2>/dev/null; }
seen=$(run otel; run langfuse_otel)
echo "$seen"
[ "$(echo "$seen" | head -n 1)" = 'otel: user "hi", user "", user "", user ""' ]
[ "$(echo "$seen" | tail -n 1)" = 'langfuse_otel: output reasoning_summary, function_call; messages reasoning_summary; cache read 300, 200 nowhere' ]
