#!/usr/bin/env bash
# Runs the program on the unmodified Python SDK against a server of its own. Says `skipped: why` and ends
# well where Python or the package cannot be had; whatever the program finds wrong fails.
#
# SDK_PYTHON names a Python that has the package already.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
  echo "skipped: the Python SDK was not tested, $1"
  exit 0
}

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

python=${SDK_PYTHON:-}
if [ -z "$python" ]; then
  command -v python3 >/dev/null || skip 'there is no python3'
  python3 -m venv "$work/venv" >"$work/venv.log" 2>&1 || skip 'python3 cannot make a venv'
  python=$work/venv/bin/python
  timeout 600 "$python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 weave \
    >"$work/pip.log" 2>&1 || skip "pip cannot install weave: $(tail -n 1 "$work/pip.log")"
fi
echo "the Python SDK: weave $("$python" -c 'from importlib.metadata import version; print(version("weave"))')"

key=wk_key_of_the_python_test
WEFT_DATA_DIR=$work/data WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$key npm start >"$work/log" 2>&1 &
server=$!
url=
for _ in $(seq 100); do
  url=$(grep -o 'http://127.0.0.1:[0-9]*' "$work/log" | head -n 1) && break
  sleep 0.2
done
[ -n "$url" ] || {
  echo 'not ok: the server did not start'
  cat "$work/log"
  exit 1
}

# Runs the program in a project and with settings of its own.
run() {
  local project=$1
  shift
  echo "project $project"
  env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" LANG=C.UTF-8 SDK_PROJECT="$project" \
    WANDB_BASE_URL="$url" WANDB_API_KEY=$key "$@" timeout 180 "$python" test/sdk/weave_python.py || {
    echo "not ok: the program on the Python SDK ended with exit code $?"
    grep -E '"level":(40|50|60)|request refused' "$work/log" | tail -n 20
    exit 1
  }
}

# A temporary folder of its own: the SDK remembers there what it has sent, whatever the server was.
mkdir "$work/home" "$work/tmp"
# The SDK's two ways to write calls; without a trace address it takes the one below the base address.
run acme/python WF_TRACE_SERVER_URL="$url/traces"
run acme/python-parts WEAVE_USE_CALLS_COMPLETE=false
echo 'the Python SDK: all ok'
