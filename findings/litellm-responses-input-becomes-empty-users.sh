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
DETAILS = {"input_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 200}, "output_tokens_details": {"reasoning_tokens": 20}}
USAGE = {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050, **DETAILS}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I think."}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "now", "arguments": "{}", "status": "completed"}
HEAD = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed"}
ANSWER = {**HEAD, "tool_choice": "auto", "tools": [], "parallel_tool_calls": True, "output": [THOUGHT, CALL], "usage": USAGE}
SENT = [{"role": "user", "content": "hi"}, THOUGHT, CALL, {"type": "function_call_output", "call_id": "call_1", "output": "noon"}]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(ANSWER).encode())
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
kind, options = (OpenTelemetry, {}) if sys.argv[1] == "otel" else (LangfuseOtelLogger, {"callback_name": sys.argv[1]})
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
    print(f"langfuse_otel: output {output}; messages {messages}; cache read {has['llm.token_count.prompt_details.cache_read']}, 200 nowhere")
PY
seen=$(for name in otel langfuse_otel; do LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" "$folder/run.py" $name 2>/dev/null; done)
echo "$seen"
[ "$(echo $seen)" = 'otel: user "hi", user "", user "", user "" langfuse_otel: output reasoning_summary, function_call; messages reasoning_summary; cache read 300, 200 nowhere' ]
