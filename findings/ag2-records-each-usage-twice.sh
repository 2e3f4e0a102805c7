#!/bin/sh
# ag2 1.2.1 with its own TelemetryMiddleware and an agent that asks its model once.
#
# One request of 100 input and 20 output tokens should have its usage on one span. Two siblings have it: "chat gpt-5" and
# "record_usage model_call", both with gen_ai.usage.input_tokens, so that a sum over the spans of the trace is double. The
# second has neither gen_ai.operation.name nor an id of the response; ag2.usage.kind alone tells that it repeats the first.
# Reasoning is gen_ai.usage.thinking_tokens.
#
# Output seen: chat gpt-5=100 record_usage model_call=100
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check 'ag2[openai,tracing]==1.2.1' opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import asyncio, http.server, json, threading

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.middleware.builtin.telemetry import TelemetryMiddleware
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        choice = {"index": 0, "message": {"role": "assistant", "content": "ho"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        answer = {"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice], "usage": usage}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
config = OpenAIConfig(model="gpt-5", api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
agent = Agent("host", config=config, middleware=[TelemetryMiddleware(tracer_provider=provider)])
asyncio.run(agent.ask("hi"))
has = {span.name: span.attributes.get("gen_ai.usage.input_tokens") for span in spans.get_finished_spans()}
print(" ".join(f"{name}={count}" for name, count in sorted(has.items()) if count is not None))
PY
seen=$("$folder/venv/bin/python" "$folder/run.py" 2>/dev/null)
echo "$seen"
[ "$seen" = 'chat gpt-5=100 record_usage model_call=100' ]
