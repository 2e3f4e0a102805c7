#!/bin/sh
# OpenInference's instrumentor for Mistral (openinference-instrumentation-mistralai==2.2.2) with mistralai==3.7.0: a request that
# names no setting, whole and streamed, of 1,000 input tokens, 600 of them cached, and 200 output tokens, 150 of them reasoning.
#
# llm.invocation_parameters should have the settings of the request, as they were: here none but the model. It has 22 more, each
# an empty text, although temperature or max_tokens are numbers and the request had none of them. Neither span has the cached
# and the reasoning tokens in an attribute of its own: they are in the JSON of output.value, of the stream one level deeper.
#
# Output seen:
#   whole: sent messages, model, stream; settings 22 empty; prompt 1000, cached None, completion 200, reasoning None
#   stream: sent messages, model, stream; settings 22 empty; prompt 1000, cached None, completion 200, reasoning None
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check mistralai==3.7.0 \
  openinference-instrumentation-mistralai==2.2.2 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import http.server, json, threading
from mistralai.client import Mistral
from openinference.instrumentation.mistralai import MistralAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

SENT, HEAD = [], {"id": "c1", "created": 1, "model": "mistral-large-latest"}
DETAILS = {"prompt_tokens_details": {"cached_tokens": 600}, "completion_tokens_details": {"reasoning_tokens": 150}}
USAGE = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200, **DETAILS}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        SENT.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        is_stream = SENT[-1].get("stream", False)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
        self.end_headers()
        one = lambda key: [{"index": 0, key: {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]
        whole = json.dumps({**HEAD, "object": "chat.completion", "choices": one("message"), "usage": USAGE})
        chunk = json.dumps({**HEAD, "object": "chat.completion.chunk", "choices": one("delta"), "usage": USAGE})
        self.wfile.write((f"data: {chunk}\n\ndata: [DONE]\n\n" if is_stream else whole).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
MistralAIInstrumentor().instrument(tracer_provider=provider)
chat = Mistral(api_key="k", server_url=f"http://127.0.0.1:{server.server_port}").chat
asked = {"model": "mistral-large-latest", "messages": [{"role": "user", "content": "hi"}]}
chat.complete(**asked)
list(chat.stream(**asked))
for name, sent, span in zip(("whole", "stream"), SENT, spans.get_finished_spans(), strict=True):
    empty = [key for key, value in json.loads(span.attributes["llm.invocation_parameters"]).items() if value == ""]
    of = lambda key: span.attributes.get("llm.token_count." + key)
    counts = f"prompt {of('prompt')}, cached {of('prompt_details.cache_read')}, completion {of('completion')}, reasoning {of('completion_details.reasoning')}"
    print(f"{name}: sent {', '.join(sorted(sent))}; settings {len(empty)} empty; {counts}")
PY
seen=$("$folder/venv/bin/python" "$folder/run.py")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
