#!/bin/sh
# OpenInference's instrumentor for AutoGen (openinference-instrumentation-autogen-agentchat 0.1.22) with autogen-agentchat
# and autogen-ext 0.7.5, one agent that calls a tool.
#
# The request asks for "gpt-4o", and the response names "gpt-4o". The span of the model has "gpt-4o-2024-08-06", to which
# AutoGen resolves the name by a table of its own, whatever answered; a price of that snapshot is asked for in vain. The
# second request has the tool's result as a message: in the span the message has a role alone, and the result is beside it,
# in llm.input_messages.3.function.0.
#
# Output seen:
#   asked for gpt-4o, answered by gpt-4o, span gpt-4o-2024-08-06
#   result: role function, content None, beside it sunny
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check autogen-agentchat==0.7.5 'autogen-ext[openai]==0.7.5' \
  openinference-instrumentation-autogen-agentchat==0.1.22 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import asyncio, http.server, json, threading
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
asked, USAGE = [], {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
HEAD = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "usage": USAGE}
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked.append(body["model"])
        first = len(asked) == 1
        message = {"role": "assistant", "content": None, "tool_calls": [CALL]} if first else {"role": "assistant", "content": "Sunny."}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if first else "stop"}
        answer = {**HEAD, "model": body["model"], "choices": [choice]}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
AutogenAgentChatInstrumentor().instrument(tracer_provider=provider)
from autogen_agentchat.agents import AssistantAgent
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
async def get_weather(city: str) -> str: return "sunny"
client = OpenAIChatCompletionClient(model="gpt-4o", base_url=f"http://127.0.0.1:{server.server_port}", api_key="x")
asyncio.run(AssistantAgent("helper", client, tools=[FunctionTool(get_weather, "Weather")], reflect_on_tool_use=True).run(task="hi"))
first, second = [span.attributes for span in spans.get_finished_spans() if "llm.model_name" in span.attributes]
print(f"asked for {asked[0]}, answered by {asked[0]}, span {first['llm.model_name']}")
role, content = [second.get(f"llm.input_messages.3.message.{name}") for name in ("role", "content")]
print(f"result: role {role}, content {content}, beside it {json.loads(second['llm.input_messages.3.function.0'])['content']}")
PY
seen=$("$folder/venv/bin/python" -W ignore "$folder/run.py")
echo "$seen"
[ "$(echo $seen)" = 'asked for gpt-4o, answered by gpt-4o, span gpt-4o-2024-08-06 result: role function, content None, beside it sunny' ]
