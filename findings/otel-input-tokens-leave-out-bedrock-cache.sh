#!/bin/sh
# OpenTelemetry's own instrumentations for Python, of a request of 10 new, 3,000 cached and 200 newly cached input tokens:
# opentelemetry-instrumentation-genai-anthropic==1.3b0 around anthropic==0.99.0, and around boto3==1.44.8
# opentelemetry-instrumentation-genai-bedrock==1.3b0 and opentelemetry-instrumentation-botocore==0.66b2.
#
# gen_ai.usage.input_tokens should be all 3,210, as their conventions say. It is around Anthropic's client; around Bedrock's it
# is the new tokens alone. What was written to the cache is cache_write in two of them and cache_creation in the third.
#
# Output seen:
#   genai.anthropic: input_tokens 3210, cache_read 3000, cache_write 200
#   genai.bedrock: input_tokens 10, cache_read 3000, cache_write 200
#   botocore: input_tokens 10, cache_read 3000, cache_creation 200
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check anthropic==0.99.0 boto3==1.44.8 opentelemetry-sdk==1.45.2 \
  opentelemetry-instrumentation-genai-anthropic==1.3b0 opentelemetry-instrumentation-genai-bedrock==1.3b0 \
  opentelemetry-util-genai==1.3b0 opentelemetry-instrumentation-botocore==0.66b2
cat > "$folder/run.py" <<'PY'
import http.server, importlib, json, threading
import anthropic, boto3
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

BEDROCK = {"inputTokens": 10, "cacheReadInputTokens": 3000, "cacheWriteInputTokens": 200, "outputTokens": 7, "totalTokens": 3217}
CLAUDE = {"input_tokens": 10, "cache_read_input_tokens": 3000, "cache_creation_input_tokens": 200, "output_tokens": 7}
ANSWERS = {
    True: {"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}, "stopReason": "end_turn", "metrics": {"latencyMs": 1}, "usage": BEDROCK},
    False: {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "hi"}], "usage": CLAUDE},
}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200), self.send_header("content-type", "application/json"), self.end_headers()
        self.wfile.write(json.dumps(ANSWERS["converse" in self.path]).encode())
    log_message = lambda *args: None

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url, keys = f"http://127.0.0.1:{server.server_port}", {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
for name, kind in [("genai.anthropic", "Anthropic"), ("genai.bedrock", "Bedrock"), ("botocore", "Botocore")]:
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    instrumentor = getattr(importlib.import_module("opentelemetry.instrumentation." + name), kind + "Instrumentor")()
    instrumentor.instrument(tracer_provider=provider)
    if kind == "Anthropic":
        anthropic.Anthropic(api_key="k", base_url=url).messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    else:
        boto3.client("bedrock-runtime", endpoint_url=url, **keys).converse(modelId="amazon.nova-pro-v1:0", messages=[{"role": "user", "content": [{"text": "hi"}]}])
    instrumentor.uninstrument()
    has = spans.get_finished_spans()[0].attributes
    counts = {key[13:].removesuffix(".input_tokens"): has[key] for key in sorted(has) if key.startswith("gen_ai.usage.") and "output" not in key}
    print(f"{name}: input_tokens {counts.pop('input_tokens')}, cache_read {counts.pop('cache_read')}, " + ", ".join(f"{key} {count}" for key, count in counts.items()))
PY
seen=$("$folder/venv/bin/python" "$folder/run.py")
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
