#!/bin/sh
# OpenLLMetry's instrumentor for Bedrock (opentelemetry-instrumentation-bedrock 0.62.4) with boto3 1.44.8 and Converse.
#
# gen_ai.usage.input_tokens should include cached tokens, as OpenTelemetry's conventions say and as OpenLLMetry's own
# instrumentor for Anthropic has it. It leaves out both those read and those written: 10 of 3210. The total is not that of
# the response (3217) but 17, and the model has lost the "amazon." of its id.
#
# Output seen:
#   input 10, read 3000, written 200, output 7, total 17, model nova-pro-v1:0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check boto3==1.44.8 \
  opentelemetry-instrumentation-bedrock==0.62.4 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import http.server, json, os, threading

import boto3
from opentelemetry.instrumentation.bedrock import BedrockInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

USAGE = {"inputTokens": 10, "cacheReadInputTokens": 3000, "cacheWriteInputTokens": 200, "outputTokens": 7, "totalTokens": 3217}
message = {"role": "assistant", "content": [{"text": "hi"}]}
ANSWER = json.dumps({"output": {"message": message}, "stopReason": "end_turn", "usage": USAGE, "metrics": {"latencyMs": 1}})

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(ANSWER.encode())
    def log_message(self, *args):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="us-east-1")
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
BedrockInstrumentor().instrument(tracer_provider=provider)
client = boto3.client("bedrock-runtime", endpoint_url=f"http://127.0.0.1:{server.server_port}")
client.converse(modelId="amazon.nova-pro-v1:0", messages=[{"role": "user", "content": [{"text": "hi"}]}])
has = spans.get_finished_spans()[0].attributes
names = ["input_tokens", "cache_read.input_tokens", "cache_creation.input_tokens", "output_tokens", "total_tokens"]
counts = [has["gen_ai.usage." + name] for name in names]
print("input {}, read {}, written {}, output {}, total {}".format(*counts) + ", model " + has["gen_ai.request.model"])
PY
seen=$("$folder/venv/bin/python" "$folder/run.py")
echo "$seen"
[ "$seen" = 'input 10, read 3000, written 200, output 7, total 17, model nova-pro-v1:0' ]
