#!/bin/sh
# ag2 1.2.1: an agent with its own TelemetryMiddleware that calls another agent as a tool.
#
# The span "record_usage subtask" sums up what the worker's model used. With a worker that has no middleware, no other span has
# it. A worker with the middleware has a "chat" span for each of its requests in the same trace, and the sum is there, too: its
# usage is in the trace twice, and both traces have the same attributes on the sum, so that nothing says which one to count.
# AG2's own reader of traces compares amounts instead.
#
# Output seen: worker untraced: requests 1010, sum 100
#   worker traced: requests 1110, sum 100
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

CALL = {"id": "t1", "type": "function", "function": {"name": "task_worker", "arguments": '{"objective": "do it"}'}}


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_host, is_done = "tools" in sent, any(message["role"] == "tool" for message in sent["messages"])
        calls = {"tool_calls": [CALL]} if is_host and not is_done else {}
        tokens = 100 if not is_host else 10 if is_done else 1000
        choice = {"index": 0, "message": {"role": "assistant", "content": "ho", **calls}, "finish_reason": "stop"}
        usage = {"prompt_tokens": tokens, "completion_tokens": 2, "total_tokens": tokens + 2}
        body = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice], "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())


server = http.server.HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
config = OpenAIConfig(model="gpt-5", api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
for traced in (False, True):
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    middleware = [TelemetryMiddleware(tracer_provider=provider)]
    worker = Agent("worker", config=config, middleware=middleware if traced else [])
    asyncio.run(Agent("host", config=config, tools=[worker.as_tool(description="Works.")], middleware=middleware).ask("hi"))
    total = lambda name: sum(s.attributes["gen_ai.usage.input_tokens"] for s in spans.get_finished_spans() if s.name == name)
    print(f"worker {'traced' if traced else 'untraced'}: requests {total('chat gpt-5')}, sum {total('record_usage subtask')}")
PY
"$folder/venv/bin/python" "$folder/run.py" 2>/dev/null | tee "$folder/seen"
printf 'worker untraced: requests 1010, sum 100\nworker traced: requests 1110, sum 100\n' | diff - "$folder/seen"
