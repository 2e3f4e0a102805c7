#!/bin/sh
# OpenInference's instrumentor for Groq (openinference-instrumentation-groq 0.1.33) with groq 1.7.0.
#
# The span of a streamed answer should end with the stream, and have its text, its model and its tokens. It has ended when
# the stream is returned, before anything of it is read. Its output is how Python prints the stream object, and there is
# neither a count nor the name of the model. The same request without a stream has all of them.
#
# Output seen:
#   whole: 1000 / 300 of openai/gpt-oss-20b, output {"id": ...
#   streamed: no counts, no model, 1 span before the first chunk, output <groq.Stream object ...
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check groq==1.7.0 \
  openinference-instrumentation-groq==0.1.33 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import http.server, json, threading
import groq
from openinference.instrumentation.groq import GroqInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

MODEL, USAGE = "openai/gpt-oss-20b", {"prompt_tokens": 1000, "completion_tokens": 300, "total_tokens": 1300}
HEAD = {"id": "chatcmpl-1", "created": 1, "model": MODEL}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if asked.get("stream") else "application/json")
        self.end_headers()
        one = lambda key: [{"index": 0, key: {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]
        whole = json.dumps({**HEAD, "object": "chat.completion", "choices": one("message"), "usage": USAGE})
        chunk = {**HEAD, "object": "chat.completion.chunk", "choices": one("delta"), "x_groq": {"usage": USAGE}}
        self.wfile.write((f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n" if asked.get("stream") else whole).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
GroqInstrumentor().instrument(tracer_provider=provider)
client = groq.Groq(base_url=f"http://127.0.0.1:{server.server_port}", api_key="x", max_retries=0)
ask = lambda **more: client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hi"}], **more)
ask()
has = spans.get_finished_spans()[0].attributes
counts = [has[f"llm.token_count.{name}"] for name in ("prompt", "completion")]
print("whole: {} / {} of {}, output {}...".format(*counts, has["llm.model_name"], has["output.value"][:6].replace('":', '": ')))
spans.clear()
stream, early = ask(stream=True), len(spans.get_finished_spans())
assert "".join(chunk.choices[0].delta.content for chunk in stream) == "Hello."
(span,) = spans.get_finished_spans()
assert not [key for key in span.attributes if "token_count" in key or key == "llm.model_name"], span.attributes
print(f"streamed: no counts, no model, {early} span before the first chunk, output {span.attributes['output.value'][:19]}...")
PY
seen=$("$folder/venv/bin/python" "$folder/run.py")
echo "$seen"
[ "$(echo "$seen" | tail -n 1)" = 'streamed: no counts, no model, 1 span before the first chunk, output <groq.Stream object...' ]
