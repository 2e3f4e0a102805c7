#!/bin/sh
# OpenLLMetry's instrumentors of one release (0.62.4) beside the newest clients: mistralai 3.7.0, together 3.1.1, cohere 7.3.1.
#
# Each names the versions that it instruments, and one beside another version should say so and leave the client alone. That
# for Cohere does. That for Mistral names "mistralai >= 1.0.0", and those for Mistral and Together raise when they are
# imported, so that a program that sets up tracing does not start.
#
# Output seen:
#   mistralai 3.7.0: ModuleNotFoundError
#   together 3.1.1: ModuleNotFoundError
#   cohere 7.3.1: imported, DependencyConflict reported
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check mistralai==3.7.0 together==3.1.1 cohere==7.3.1 \
  opentelemetry-instrumentation-mistralai==0.62.4 opentelemetry-instrumentation-together==0.62.4 \
  opentelemetry-instrumentation-cohere==0.62.4 opentelemetry-sdk==1.45.2
cat > "$folder/run.py" <<'PY'
import importlib, importlib.metadata, logging, sys

messages = []
class Heard(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())
logging.getLogger().addHandler(Heard())
name, kind = sys.argv[1:]
version = importlib.metadata.version(name)
try:
    instrumentor = getattr(importlib.import_module(f"opentelemetry.instrumentation.{name}"), kind)()
    instrumentor.instrument()
    heard = any("outside of that range" in text or "DependencyConflict" in text for text in messages)
    print(f"{name} {version}: imported, {'DependencyConflict reported' if heard else messages}")
except Exception as error:
    print(f"{name} {version}: {type(error).__name__}")
PY
run() { "$folder/venv/bin/python" "$folder/run.py" "$@" 2>/dev/null; }
seen=$(run mistralai MistralAiInstrumentor; run together TogetherAiInstrumentor; run cohere CohereInstrumentor)
echo "$seen"
[ "$(echo $seen)" = 'mistralai 3.7.0: ModuleNotFoundError together 3.1.1: ModuleNotFoundError cohere 7.3.1: imported, DependencyConflict reported' ]
