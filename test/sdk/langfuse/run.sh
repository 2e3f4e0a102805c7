#!/usr/bin/env bash
# Runs the unmodified SDKs of Langfuse for Python and JavaScript, the pinned versions of docs/langfuse.md, against a
# server of their own. Whatever a program finds wrong fails.
#
# LANGFUSE_DIR keeps the environments for the next time.
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=test/sdk/langfuse
work=$(mktemp -d)
envs=${LANGFUSE_DIR:-$work/envs}
mkdir -p "$envs"
server=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

if [ ! -f "$envs/python/done" ]; then
  python3 -m venv "$envs/python"
  "$envs/python/bin/pip" install --quiet --disable-pip-version-check langfuse==5.0.4
  touch "$envs/python/done"
fi
if [ ! -f "$envs/node/done" ]; then
  mkdir -p "$envs/node"
  echo '{"private": true, "type": "module"}' >"$envs/node/package.json"
  (cd "$envs/node" && npm install --no-audit --no-fund --silent --ignore-scripts @langfuse/client@5.11.1 \
    @langfuse/tracing@5.11.1 @langfuse/otel@5.11.1 @opentelemetry/sdk-trace-node@2)
  touch "$envs/node/done"
fi

node=node_modules/.bin/node
key=wk_key_of_the_langfuse_test
WEFT_DATA_DIR=$work/data WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$key "$node" src/server.ts >"$work/log" 2>&1 &
server=$!
url=
for _ in $(seq 150); do
  url=$(grep -o 'http://127.0.0.1:[0-9]*' "$work/log" | head -n 1) && break
  sleep 0.2
done
[ -n "$url" ] || { cat "$work/log" && exit 1; }

# Runs a program with these settings and no others.
run() {
  local project=$1
  shift
  env -i PATH="$PATH" HOME="$work" TMPDIR="$work" LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 PROJECT="$project" \
    LANGFUSE_BASE_URL="$url" LANGFUSE_SECRET_KEY=$key LANGFUSE_PUBLIC_KEY="$project" timeout 180 "$@" || {
    echo "not ok: exit code $?"
    grep -E '"level":(40|50|60)|"code":' "$work/log" | tail -n 20
    exit 1
  }
}

cp "$here/program.mjs" "$envs/node/program.mjs"
run acme/python "$envs/python/bin/python" "$here/program.py"
run acme/node "$PWD/$node" "$envs/node/program.mjs"
