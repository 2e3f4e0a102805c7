#!/bin/sh
# OpenLLMetry's instrumentor for Gemini (opentelemetry-instrumentation-google-generativeai 0.62.4) with google-genai 3.6.1.
#
# The span of a streamed answer should have its whole text, and its thoughts among the output tokens or beside them. Its
# output message has the last chunk alone, of "Hi ", "there" and "!" only "!". The 60 thinking tokens are in no attribute:
# the output is 40, although the total is 1100.
#
# Output seen:
#   text "!", input 1000, output 40, total 1100
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check google-genai==3.6.1 \
  opentelemetry-instrumentation-google-generativeai==0.62.4 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import http.server, json, threading

from google import genai
from opentelemetry.instrumentation.google_generativeai import GoogleGenerativeAiInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

USAGE = {"promptTokenCount": 1000, "candidatesTokenCount": 40, "thoughtsTokenCount": 60, "totalTokenCount": 1100}

def chunk(text, **more):
    content = {"role": "model", "parts": [{"text": text}]}
    return "data: " + json.dumps({"candidates": [{"content": content, "index": 0}], **more}) + "\n\n"

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write((chunk("Hi ") + chunk("there") + chunk("!", usageMetadata=USAGE)).encode())
    def log_message(self, *args):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
GoogleGenerativeAiInstrumentor().instrument(tracer_provider=provider)
options = {"base_url": f"http://127.0.0.1:{server.server_port}"}
client = genai.Client(api_key="x", http_options=options)
said = "".join(part.text for part in client.models.generate_content_stream(model="gemini-2.5-pro", contents="hi"))
assert said == "Hi there!", said
has = spans.get_finished_spans()[0].attributes
(message,) = json.loads(has["gen_ai.output.messages"])
text = "".join(part["content"] for part in message["parts"])
counts = [has[f"gen_ai.usage.{name}_tokens"] for name in ("input", "output", "total")]
print('text "{}", input {}, output {}, total {}'.format(text, *counts))
assert 60 not in has.values()
PY
seen=$("$folder/venv/bin/python" "$folder/run.py")
echo "$seen"
[ "$seen" = 'text "!", input 1000, output 40, total 1100' ]
