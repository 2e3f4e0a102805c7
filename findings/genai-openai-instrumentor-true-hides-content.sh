#!/bin/sh
# opentelemetry-instrumentation-genai-openai 1.3b0, which follows opentelemetry-instrumentation-openai-v2, with openai 3.57.0.
#
# OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, the value that the older package knows, should show the messages
# of a request, as it did. It shows none: the value is refused with a warning in the program's log, and NO_CONTENT taken
# for it. SPAN_ONLY, EVENT_ONLY or SPAN_AND_EVENT is wanted now, and no stability switch beside it.
#
# Output seen:
#   true: no messages
#   SPAN_ONLY: messages
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check opentelemetry-instrumentation-genai-openai==1.3b0 \
  opentelemetry-util-genai==1.3b0 opentelemetry-sdk==1.45.2 openai==3.57.0 httpx==0.28.1
cat > "$folder/run.py" <<'PY'
import http.server, json, threading

import openai
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        choice = {"index": 0, "message": {"role": "assistant", "content": "ho"}, "finish_reason": "stop"}
        body = json.dumps({"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice]}).encode()
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
OpenAIInstrumentor().instrument(tracer_provider=provider)
client = openai.OpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "hi"}])
(span,) = spans.get_finished_spans()
print("messages" if "gen_ai.input.messages" in span.attributes else "no messages")
PY
for mode in true SPAN_ONLY; do
  seen=$(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=$mode "$folder/venv/bin/python" "$folder/run.py" 2>/dev/null)
  echo "$mode: $seen"
  [ "$seen" = "$([ $mode = true ] && echo 'no messages' || echo messages)" ]
done
