#!/bin/sh
# opentelemetry-instrumentation-openai-v2 2.4b0 with the newest packages that its requirements allow.
#
# After pip install of it and of openai, importing the instrumentor should work. It raises ModuleNotFoundError: it imports
# httpx, which it does not require and openai 3.57.0 no longer brings. With httpx it imports
# opentelemetry.util.genai.instruments, which opentelemetry-util-genai 1.3b0 does not have. With 0.4b0 it can be imported.
#
# Output seen:
#   newest: No module named 'httpx'
#   with httpx: No module named 'opentelemetry.util.genai.instruments'
#   with util-genai 0.4b0: imported
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
add() { "$folder/venv/bin/pip" -q install --disable-pip-version-check "$@"; }
try() {
  "$folder/venv/bin/python" -c '
try:
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    print("imported")
except ModuleNotFoundError as error:
    print(error)
'
}
add opentelemetry-instrumentation-openai-v2==2.4b0 opentelemetry-util-genai==1.3b0 openai==3.57.0
newest=$(try)
add httpx
with=$(try)
add opentelemetry-util-genai==0.4b0
older=$(try)
echo "newest: $newest"
echo "with httpx: $with"
echo "with util-genai 0.4b0: $older"
[ "$newest" = "No module named 'httpx'" ]
[ "$with" = "No module named 'opentelemetry.util.genai.instruments'" ]
[ "$older" = imported ]
