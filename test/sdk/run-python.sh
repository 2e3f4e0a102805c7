#!/usr/bin/env bash
# Runs the programs on the unmodified Python SDKs against a server of their own. Says `skipped: why` where
# Python or a package cannot be had; whatever a program finds wrong fails.
#
# SDK_STORE=clickhouse puts the calls into ClickHouse's engine, which `npm run tools -- chdb` installs.
# SDK_PYTHON names a Python that has the packages already. SDK_OTEL=1 tries more libraries that send OpenTelemetry,
# SDK_LIBRARIES=1 more that the Weave SDK traces by itself.
# SDK_TRAINING=1 tries what trains too: its packages are large, 600 MB of openpipe-art, 900 MB of its release for
# Python 3.12, and 6 GB of peft, TRL and torch.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
  echo "skipped: $1 was not tested, $2"
}

work=$(mktemp -d)
server=
upstream=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$upstream" ] || kill "$upstream" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

# Waits for the first address in a file; fails with the file when none comes.
read_address() {
  local file=$1
  for _ in $(seq 100); do
    grep -o 'http://127.0.0.1:[0-9/v]*' "$file" | head -n 1 && return
    sleep 0.2
  done
  echo 'not ok: a server did not start' >&2
  cat "$file" >&2
  exit 1
}

python=${SDK_PYTHON:-}
if [ -z "$python" ]; then
  command -v python3 >/dev/null || { skip 'the Python SDKs' 'there is no python3' && exit 0; }
  python3 -m venv "$work/venv" >"$work/venv.log" 2>&1 ||
    { skip 'the Python SDKs' 'python3 cannot make a venv' && exit 0; }
  python=$work/venv/bin/python
fi

# Whether a package is there, or can be installed, with extras and a version as pip takes them; says so if not.
have() {
  local package=$1
  local name=${package%%[[=]*}
  if [ -z "${SDK_PYTHON:-}" ]; then
    timeout 600 "$python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 \
      "$package" >"$work/pip.log" 2>&1 ||
      { skip "the Python package $package" "pip cannot install it: $(tail -n 1 "$work/pip.log")" && return 1; }
  fi
  local version
  version=$("$python" -c "from importlib.metadata import version; print(version('$name'))" 2>/dev/null) ||
    { skip "the Python package $name" "$python does not have it" && return 1; }
  echo "the Python package $name $version"
}

node_modules/.bin/node test/sdk/python-upstream.ts >"$work/upstream" 2>&1 &
upstream=$!
upstream_url=$(read_address "$work/upstream")
cat >"$work/models.json" <<JSON
{ "models": [
  { "id": "org/relayed", "backend": "openai", "base_url": "$upstream_url", "upstream_model": "up", "tools": true },
  { "id": "tiny", "backend": "tiny" }] }
JSON

store=()
if [ "${SDK_STORE:-sqlite}" = clickhouse ]; then
  # It ends with its standard input, which this shell holds.
  exec 3> >(UV_THREADPOOL_SIZE=16 node_modules/.bin/node test/store/clickhouse/chdb-front.ts >"$work/clickhouse" 2>&1)
  for _ in $(seq 100); do
    port=$(head -n 1 "$work/clickhouse" 2>/dev/null || true)
    [ -z "$port" ] || break
    sleep 0.2
  done
  store=(WEFT_STORE=clickhouse "WEFT_CLICKHOUSE_URL=http://127.0.0.1:$port/default")
fi

key=wk_key_of_the_python_test
env "${store[@]}" WEFT_DATA_DIR=$work/data WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$key WEFT_MODELS_FILE=$work/models.json \
  npm start >"$work/log" 2>&1 &
server=$!
url=$(read_address "$work/log")

# Ends only a program that hangs: what trains takes minutes on a machine that does other work too.
limit_s=1800

# Runs a program with these settings and no others.
run() {
  local program=$1
  shift
  env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" LANG=C.UTF-8 "$@" \
    timeout "$limit_s" "$python" "test/sdk/$program" || {
    echo "not ok: $program ended with exit code $?"
    grep -E '"level":(40|50|60)|"code":' "$work/log" | tail -n 20
    exit 1
  }
}

run_weave() {
  local project=$1
  shift
  echo "project $project"
  run weave_python.py SDK_PROJECT="$project" WANDB_BASE_URL="$url" WANDB_API_KEY=$key "$@"
}

# A temporary folder of its own: the SDK remembers there what it has sent, whatever the server was.
mkdir "$work/home" "$work/tmp"
if have weave; then
  run weave_endpoints.py
  # The SDK's two ways to write calls; without a trace address it takes the one below the base address.
  run_weave acme/python WF_TRACE_SERVER_URL="$url/traces"
  run_weave acme/python-parts WEAVE_USE_CALLS_COMPLETE=false
  # The client needs numpy to read an evaluation back.
  have numpy && run weave_methods/main.py SDK_PROJECT=acme/methods WANDB_BASE_URL="$url" WANDB_API_KEY=$key \
    WF_TRACE_SERVER_URL="$url/traces" WEAVE_PRINT_CALL_LINK=false WANDB_ERROR_REPORTING=false
  echo 'the Python package weave: all ok'
fi
if have openai; then
  run openai_python.py OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=$key UPSTREAM_URL="$upstream_url"
  echo 'the Python package openai: all ok'
fi

# Costs, compared with those of the list for Python.
if have genai-prices==0.2.3; then
  run prices_python.py WANDB_BASE_URL="$url" WANDB_API_KEY=$key
fi

# The same program below one library after the other, each alone in its process.
run_otel() {
  local program=$1 library=$2
  run "$program" SDK_TRACED_BY="$library" WANDB_BASE_URL="$url" WANDB_API_KEY=$key WF_TRACE_SERVER_URL="$url/traces" \
    OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=$key
  echo "traced by $library: all ok"
}

if have weave && have openai && have opentelemetry-exporter-otlp-proto-http; then
  run_otel otel_python.py weave
  run_otel otel_agents_python.py conversation
  have opentelemetry-instrumentation-openai && run_otel otel_python.py openllmetry
  have openinference-instrumentation-openai && run_otel otel_python.py openinference
  if [ -z "${SDK_OTEL:-}" ]; then
    skip 'logfire and openai-agents' 'SDK_OTEL is not set'
  else
    have logfire && run_otel otel_python.py logfire
    have openai-agents && run_otel otel_agents_python.py openai-agents
  fi
fi

# Each token counts once, however a library nests its calls.
run_usage() {
  run usage_python.py SDK_LIBRARY="$1" WANDB_BASE_URL="$url" WANDB_API_KEY=$key WF_TRACE_SERVER_URL="$url/traces" \
    LITELLM_LOCAL_MODEL_COST_MAP=True
}

if have weave && have openai; then
  run_usage openai
  have langchain-openai && run_usage langchain
  if [ -z "${SDK_LIBRARIES:-}" ]; then
    skip 'the usage of langgraph, litellm, dspy, openai-agents, autogen and crewai' 'SDK_LIBRARIES is not set'
  else
    have langgraph && run_usage langgraph
    have litellm && run_usage litellm
    # The SDK's part for dspy asks for numpy.
    have numpy && have dspy && run_usage dspy
    have openai-agents && run_usage openai-agents
    have 'autogen-ext[openai]==0.7.5' && have autogen-agentchat==0.7.5 && run_usage autogen
    # The last release that the SDK names; with later ones its serializer does not end.
    have crewai==0.108.0 && run_usage crewai
  fi
fi

# The libraries that speak the OpenAI protocol, as many as there is time for.
CLIENTS_SECONDS=${CLIENTS_SECONDS:-180} test/sdk/clients/run.sh
run_exports() {
  run training_exports_python.py WEFT_URL="$url" WEFT_KEY=$key LITELLM_LOCAL_MODEL_COST_MAP=True
  echo 'exported training data: all ok'
}
if [ -z "${SDK_TRAINING:-}" ]; then
  skip 'training with openpipe-art, peft and TRL' 'SDK_TRAINING is not set'
  exit 0
fi
run_art() {
  run art_python.py OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=$key LITELLM_LOCAL_MODEL_COST_MAP=True
  echo "the Python package $1: all ok"
}
# The last release for Python 3.11. Later ones send less and record more; they need a Python of their own.
if have wandb && have openpipe-art==0.5.18; then
  run_art openpipe-art==0.5.18
  # Newer ones of verifiers and openpipe-art do not go together.
  if have datasets==4.8.5 && have transformers && have trl==1.16.0 && have verifiers==0.4.0; then
    run_exports
  fi
fi
if [ -n "${SDK_PYTHON:-}" ] || ! command -v python3.12 >/dev/null; then
  skip 'openpipe-art for Python 3.12' 'there is no python3.12, or SDK_PYTHON is set'
elif ! python3.12 -m venv "$work/venv312" >"$work/venv.log" 2>&1; then
  skip 'openpipe-art for Python 3.12' 'python3.12 cannot make a venv'
else
  older=$python
  python=$work/venv312/bin/python
  if have wandb && have openpipe-art==0.5.23; then
    run_art openpipe-art==0.5.23
  fi
  python=$older
fi
if have torch && have transformers && have gguf && have peft; then
  run peft_python.py OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=$key HF_HUB_OFFLINE=1
  echo 'the Python package peft: all ok'
fi
if have torch && have datasets==4.8.5 && have transformers && have trl==1.16.0; then
  run trl_python.py WEFT_URL="$url" WEFT_KEY=$key HF_HUB_OFFLINE=1
  echo 'the Python package trl: all ok'
fi
