#!/usr/bin/env bash
# Publishes to a Weft with the weave client, imports that into two projects of another Weft, the same name and a new one,
# and reads everything there by the same refs with the same client. By hand: the client is downloaded.
#
# IMPORT_WEAVE names a virtual environment that has the package already.
set -euo pipefail
cd "$(dirname "$0")/../../.."
node=node_modules/node/bin/node
work=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

env=${IMPORT_WEAVE:-$work/env}
if [ ! -x "$env/bin/python" ]; then
  python3 -m venv "$env"
  "$env/bin/pip" -q install --disable-pip-version-check weave==0.54.0
fi
key=wk_key_of_the_import_test

# Starts a server on a data directory; its address is in $url.
start() {
  WEFT_DATA_DIR=$1 WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$key "$node" src/server.ts >"$1.log" 2>&1 &
  server=$!
  url=
  for _ in $(seq 150); do
    url=$(grep -o 'http://127.0.0.1:[0-9]*' "$1.log" | head -n 1) && return
    sleep 0.2
  done
  cat "$1.log" && exit 1
}

# The cache of the client would take what another server has for stored.
client() {
  env -i PATH="$PATH" HOME="$work" LANG=C.UTF-8 WANDB_BASE_URL="$url" WANDB_API_KEY=$key WF_TRACE_SERVER_URL="$url/traces" \
    WANDB_ERROR_REPORTING=false WEAVE_PRINT_CALL_LINK=false WEAVE_LOG_LEVEL=ERROR WEAVE_USE_SERVER_CACHE=false \
    timeout 300 "$env/bin/python" test/sdk/imports/weave_python.py "$@"
}

start "$work/from"
client fill acme/shop "$work/state.json"
for run in 1 2; do
  for project in acme/shop acme/moved; do
    WANDB_API_KEY=$key WEFT_DATA_DIR=$work/to \
      "$node" src/weft.cjs import --from weave --name acme/shop --project "$project" "$url"
    WEFT_DATA_DIR=$work/to "$node" src/weft.cjs export "$project" --to "$work/export-$run/$project"
  done
done
diff -r "$work/export-1" "$work/export-2"
echo "ok: the second import changes nothing"
kill "$server"
wait "$server" 2>/dev/null || true
start "$work/to"
client read acme/moved "$work/state.json"
client read acme/shop "$work/state.json"
