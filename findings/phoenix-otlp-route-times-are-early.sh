#!/bin/sh
# arize-phoenix 20.26.1, one span that begins 1,780,000,000.123003 s after 1970.
#
# Both routes that list spans should give the same moment. GET /v1/projects/{project}/spans gives the microsecond that was sent.
# GET /v1/projects/{project}/spans/otlpv1 multiplies a float of seconds by 1e9 and cuts: for about half of all moments
# the nanoseconds lie before it, so that whoever reads them as microseconds has the one before.
#
# Output seen:
#   spans: 2026-05-28T20:26:40.123003+00:00
#   otlpv1: 1780000000123002880
set -eu
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; sleep 1; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check arize-phoenix==20.26.1
PHOENIX_WORKING_DIR="$folder/data" PHOENIX_HOST=127.0.0.1 PHOENIX_PORT=16216 PHOENIX_GRPC_PORT=14517 \
  PHOENIX_TELEMETRY_ENABLED=false "$folder/venv/bin/phoenix" serve >"$folder/log" 2>&1 &
server=$!
cat > "$folder/run.py" <<'PY'
import json
import time
import urllib.request

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

URL = "http://127.0.0.1:16216"


def first(path):
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{URL}/v1/projects/default/{path}") as response:
                data = json.load(response)["data"]
            if data:
                return data[0]
        except OSError:
            pass
        time.sleep(0.5)


for _ in range(300):
    try:
        urllib.request.urlopen(f"{URL}/v1/projects")
        break
    except OSError:
        time.sleep(0.5)
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{URL}/v1/traces")))
span = provider.get_tracer("t").start_span("one", start_time=1_780_000_000_123_003_000)
span.end(end_time=1_780_000_001_000_000_000)
provider.shutdown()
print("spans:", first("spans")["start_time"])
print("otlpv1:", first("spans/otlpv1")["start_time_unix_nano"])
PY
"$folder/venv/bin/python" "$folder/run.py" 2>/dev/null > "$folder/seen"
cat "$folder/seen"
printf 'spans: 2026-05-28T20:26:40.123003+00:00\notlpv1: 1780000000123002880\n' | diff - "$folder/seen"
