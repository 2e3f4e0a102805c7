#!/bin/sh
# llama.cpp's HTTP server, as packed in PyPI xllamacpp 2026.10.11549. $1 is a GGUF file; default: the embedded model's.
#
# A stream of /v1/completions is made of chunks, each a JSON object, then [DONE]. With several prompts the first event
# is "data: null", which is no chunk. With one prompt there is none.
#
# Output seen:
#   one prompt begins with {
#   two prompts begin with null
set -eu
model=${1:-$(dirname "$0")/../src/inference/tiny/model/tiny.gguf}
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null; rm -rf "$folder"' EXIT
server=
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install xllamacpp==2026.10.11549
cat > "$folder/serve.py" <<'PY'
import sys, time
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_parallel, params.n_ctx, params.port = 4, 4096, int(sys.argv[2])
params.warmup = False
params.use_jinja = True
params.chat_template = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
server = xllamacpp.Server(params)
print("ready", flush=True)
time.sleep(120)
PY
"$folder/venv/bin/python" "$folder/serve.py" "$model" 18931 > "$folder/log" 2>&1 &
server=$!
for _ in $(seq 60); do grep -q ready "$folder/log" && break; sleep 1; done

ask() { curl -sN -m 30 "http://127.0.0.1:18931/v1/$1" -d "$2"; }
one=$(ask completions '{"prompt":"hi","max_tokens":2,"stream":true}' | head -1 | cut -c7)
two=$(ask completions '{"prompt":["hi","yo"],"max_tokens":2,"stream":true}' | head -1 | cut -c7-10)
echo "one prompt begins with $one"
echo "two prompts begin with $two"
[ "$one" = '{' ] && [ "$two" = null ]
