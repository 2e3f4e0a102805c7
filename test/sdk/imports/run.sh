#!/usr/bin/env bash
# Fills a Phoenix and an MLflow server through their own clients, imports them, and compares span by span and score by
# score what the clients read with what `weft export` writes. By hand: the packages take 1.7 GB.
#
# IMPORT_PHOENIX and IMPORT_MLFLOW name virtual environments that have the packages already.
set -euo pipefail
cd "$(dirname "$0")/../../.."
node=node_modules/node/bin/node
work=$(mktemp -d)
servers=()
stop() {
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT

# Installs packages into an environment of their own, unless one is given; prints its folder.
environment() {
  local given=$1 name=$2
  shift 2
  if [ -z "$given" ]; then
    given=$work/$name
    python3 -m venv "$given"
    "$given/bin/pip" -q install --disable-pip-version-check "$@" >&2
  fi
  echo "$given"
}

wait_for() {
  for _ in $(seq 300); do
    curl -sf -o /dev/null "$1" && return
    sleep 0.2
  done
  echo "not ok: $1 did not start" >&2
  exit 1
}

# Imports twice, exports, and has the program compare.
compare() {
  local tool=$1 url=$2 python=$3 run
  export WEFT_DATA_DIR=$work/weft-$tool
  for run in 1 2; do
    "$node" src/weft.cjs import --from "$tool" --name shop --project acme/shop "$url"
    "$node" src/weft.cjs export acme/shop --to "$work/export-$tool-$run"
  done
  diff -r "$work/export-$tool-1" "$work/export-$tool-2"
  echo "ok: $tool, the second import changes nothing"
  "$python" "test/sdk/imports/${tool}_python.py" compare "$url" "$work/export-$tool-1"
}

phoenix=$(environment "${IMPORT_PHOENIX:-}" phoenix arize-phoenix==20.26.1)
url=http://127.0.0.1:16116
PHOENIX_WORKING_DIR=$work/phoenix-data PHOENIX_HOST=127.0.0.1 PHOENIX_PORT=16116 PHOENIX_GRPC_PORT=14417 \
  PHOENIX_TELEMETRY_ENABLED=false "$phoenix/bin/phoenix" serve >"$work/phoenix.log" 2>&1 &
servers+=($!)
wait_for "$url/v1/projects"
"$phoenix/bin/python" test/sdk/imports/phoenix_python.py fill "$url"
compare phoenix "$url" "$phoenix/bin/python"
kill "${servers[0]}"

mlflow=$(environment "${IMPORT_MLFLOW:-}" mlflow mlflow==3.17.2)
url=http://127.0.0.1:15115
"$mlflow/bin/mlflow" server --backend-store-uri "sqlite:///$work/mlflow.db" --artifacts-destination "$work/artifacts" \
  --host 127.0.0.1 --port 15115 --workers 1 >"$work/mlflow.log" 2>&1 &
servers+=($!)
wait_for "$url/health"
export MLFLOW_TRACKING_URI=$url
"$mlflow/bin/python" test/sdk/imports/mlflow_python.py fill "$url"
compare mlflow "$url" "$mlflow/bin/python"
