#!/bin/sh
# Mirascope's tracing (mirascope[openai,ops]==2.8.2), with the extra that its documentation names and a model of OpenAI's.
#
# After the installation of mirascope[ops] one expects `ops.configure` to work. It fails and advises to install mirascope[ops].
# The extra brings instrumentors for Anthropic and Gemini; these cannot be imported without the clients of these providers, and
# Mirascope takes one import that fails for a missing extra. With the two clients installed it works, whatever model is asked.
#
# Output seen:
#   mirascope[openai,ops]: ImportError: The 'ops' packages are required to use configure. Install them with: `uv add 'mirascope[ops]'`.
#   cannot be imported: opentelemetry.instrumentation.anthropic, opentelemetry.instrumentation.google_genai
#   with anthropic and google-genai: configured
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
install() { "$folder/venv/bin/pip" -q install --disable-pip-version-check "$@"; }
cat > "$folder/run.py" <<'PY'
import importlib, sys

from opentelemetry.sdk.trace import TracerProvider

try:
    from mirascope import ops

    ops.configure(tracer_provider=TracerProvider())
    print(f"{sys.argv[1]}: configured")
except ImportError as error:
    print(f"{sys.argv[1]}: ImportError: {str(error).split(' Or use ')[0]}")
    broken = []
    for name in ("openai_v2", "anthropic", "google_genai"):
        try:
            importlib.import_module(f"opentelemetry.instrumentation.{name}")
        except ImportError:
            broken.append(f"opentelemetry.instrumentation.{name}")
    print("cannot be imported:", ", ".join(broken))
PY
install "mirascope[openai,ops]==2.8.2" openai==2.54.0 opentelemetry-sdk==1.45.2 opentelemetry-instrumentation-openai-v2==2.3b0 \
  opentelemetry-instrumentation-anthropic==0.62.4 opentelemetry-instrumentation-google-genai==0.7b2
seen=$("$folder/venv/bin/python" "$folder/run.py" "mirascope[openai,ops]")
install anthropic==2.14.0 google-genai==3.6.1
seen="$seen
$("$folder/venv/bin/python" "$folder/run.py" "with anthropic and google-genai")"
echo "$seen" && [ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
