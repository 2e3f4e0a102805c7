#!/bin/sh
# openlit==1.45.0 with anthropic==0.99.0: one request of 10 new, 3,000 cached and 200 newly cached input tokens, whole and
# streamed; the stream has the same counts in its message_start, as Anthropic's API sends them.
#
# The spans of both should have the same counts. That of the stream has 0 tokens read from and written to the cache, so that of
# 3,210 input tokens 10 are left: gen_ai.usage.input_tokens are the new ones alone. Both spans also have settings that the
# program never named and the request did not have: temperature, top_p and top_k of 1.
#
# Output seen:
#   sent max_tokens, messages, model: span input 10, read 3000, written 200; temperature 1.0, top_p 1.0, top_k 1.0
#   sent max_tokens, messages, model, stream: span input 10, read 0, written 0; temperature 1.0, top_p 1.0, top_k 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check openlit==1.45.0 anthropic==0.99.0 openai==2.44.0 opentelemetry-api==1.45.1 \
  opentelemetry-sdk==1.45.1 opentelemetry-exporter-otlp==1.45.1 opentelemetry-instrumentation==0.66b1
echo '{}' > "$folder/prices.json"
cat > "$folder/run.py" <<'PY'
import http.server, json, sys, threading
import anthropic, openlit, opentelemetry.trace as trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

SENT, INPUT = [], {"input_tokens": 10, "cache_read_input_tokens": 3000, "cache_creation_input_tokens": 200}
HEAD = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_sequence": None}
EVENTS = [
    {"type": "message_start", "message": {**HEAD, "content": [], "stop_reason": None, "usage": {**INPUT, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 0}, {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        SENT.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        is_stream = SENT[-1].get("stream", False)
        self.send_response(200), self.send_header("content-type", "text/event-stream" if is_stream else "application/json"), self.end_headers()
        whole = json.dumps({**HEAD, "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn", "usage": {**INPUT, "output_tokens": 7}})
        self.wfile.write(("".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in EVENTS) if is_stream else whole).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans)), trace.set_tracer_provider(provider)
openlit.init(pricing_json=sys.argv[1], disable_metrics=True, disable_events=True)
client = anthropic.Anthropic(api_key="k", base_url=f"http://127.0.0.1:{server.server_port}")
for more in ({}, {"stream": True}):
    list(client.messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=[{"role": "user", "content": "hi"}], **more))
found = [span.attributes for span in spans.get_finished_spans() if "anthropic" in span.instrumentation_scope.name]
for has, sent in zip(found, SENT, strict=True):
    names = ["usage.input_tokens", "usage.cache_read.input_tokens", "usage.cache_creation.input_tokens", "request.temperature", "request.top_p", "request.top_k"]
    of = [has["gen_ai." + name] for name in names]
    print("sent {}: span input {}, read {}, written {}; temperature {}, top_p {}, top_k {}".format(", ".join(sorted(sent)), *of))
PY
seen=$("$folder/venv/bin/python" "$folder/run.py" "$folder/prices.json" 2> "$folder/log" || cat "$folder/log")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
