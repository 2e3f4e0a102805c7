#!/usr/bin/env bash
# Gives the OpenAPI document to the tools that read such documents, and makes a call with each client that they
# make, against a server of its own. Then a fuzzer tries every operation of the document. Says `skipped: why`
# where a tool cannot be had; whatever a tool or a client finds wrong fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
PATH=$root/node_modules/.bin:$PATH

REDOCLY=2.77.0 OPENAPI_TYPESCRIPT=7.13.0 OPENAPI_FETCH=0.17.0 HEY_API=0.95.0 ORVAL=8.38.0 TYPESCRIPT=5.9.3
OPENAPI_GENERATOR=7.17.0
SEED=14
# Requests that the fuzzer tries for an operation, each well-formed and broken.
FUZZ_EXAMPLES=6
FUZZ_SECONDS_MAX=300

work=$(mktemp -d)
processes=()
stop() {
  [ ${#processes[@]} -eq 0 ] || kill "${processes[@]}" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

skip() {
  echo "skipped: $1, $2: $(tail -n 1 "$work/$3.log" 2>/dev/null)"
}

# Runs a command; its output is shown only when it fails.
check() {
  local name=$1
  shift
  (cd "$work" && "$@") >"$work/output" 2>&1 || {
    echo "not ok: $name"
    tail -n 60 "$work/output"
    exit 1
  }
  echo "ok: $name"
}

export SERVER_KEY=wk_key_of_the_document_test
# Starts a server in the background; its log has its address. The settings of the models come before.
start_server() {
  WEFT_DATA_DIR=$work/$1 WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$SERVER_KEY \
    node src/server.ts >"$work/$1.log" 2>&1 &
  processes+=($!)
}

# Prints the address of a server that was started.
address_of() {
  for _ in $(seq 300); do
    grep -o 'http://127.0.0.1:[0-9]*' "$work/$1.log" | head -n 1 | grep . && return
    sleep 0.2
  done
  echo "not ok: the server $1 did not start" >&2
  cat "$work/$1.log" >&2
  return 1
}

start_server server

# The installations wait for the network: all at once.
npm install --prefix "$work/js" --no-audit --no-fund "@redocly/cli@$REDOCLY" "openapi-typescript@$OPENAPI_TYPESCRIPT" \
  "openapi-fetch@$OPENAPI_FETCH" "@hey-api/openapi-ts@$HEY_API" "orval@$ORVAL" "typescript@$TYPESCRIPT" >"$work/npm.log" 2>&1 &
npm_install=$!
{
  python3 -m venv "$work/py" && "$work/py/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 20 \
    schemathesis==4.32.5 openapi-spec-validator==0.9.0 datamodel-code-generator==0.89.0 \
    openapi-python-client==0.29.1 urllib3 python-dateutil
} >"$work/pip.log" 2>&1 &
pip_install=$!
{
  command -v java && mvn -q -B dependency:copy -DoutputDirectory="$work/jar" \
    "-Dartifact=org.openapitools:openapi-generator-cli:$OPENAPI_GENERATOR"
} >"$work/mvn.log" 2>&1 &
jar_download=$!

SERVER_URL=$(address_of server)
export SERVER_URL
curl --silent --show-error --fail --max-time 30 "$SERVER_URL/openapi.json" >"$work/openapi.json"

if wait "$npm_install"; then
  bin=$work/js/node_modules/.bin
  check 'redocly lint' "$bin/redocly" lint openapi.json
  check openapi-typescript "$bin/openapi-typescript" openapi.json -o js/types.ts
  check @hey-api/openapi-ts "$bin/openapi-ts" -i openapi.json -o js/hey --no-log-file
  cp "$root"/test/document/clients/*.ts "$work/js"
  compile() {
    check "the client of $1 compiles" "$bin/tsc" --strict --skipLibCheck --target es2022 --lib es2022,dom,dom.iterable \
      --module commonjs --moduleResolution node10 --outDir "js/$2" --rootDir js "js/$2.ts"
    check "the client of $1 makes calls" env NODE_PATH="$work/js/node_modules" node "js/$2/$2.js" "$SERVER_URL" "$SERVER_KEY"
  }
  compile openapi-typescript openapi-fetch-calls
  compile @hey-api/openapi-ts hey-api-calls
  check orval "$bin/orval" --input openapi.json --output js/orval/weft.ts --client fetch --mode single
  compile orval orval-calls
else
  skip 'redocly, openapi-typescript, orval and @hey-api/openapi-ts' 'npm cannot install them' npm
fi

has_python=
if wait "$pip_install"; then
  has_python=yes
  py=$work/py/bin
  check openapi-spec-validator "$py/openapi-spec-validator" openapi.json
  check datamodel-code-generator "$py/datamodel-codegen" --input openapi.json --input-file-type openapi --disable-warnings \
    --output-model-type pydantic_v2.BaseModel --output weft_models.py
  # It knows neither lines of JSON nor protobuf, and would format what it made with a tool of its own.
  printf 'content_type_overrides:\n  application/jsonl: application/octet-stream\n  application/x-protobuf: application/octet-stream\npost_hooks: []\n' >"$work/config.yml"
  check openapi-python-client "$py/openapi-python-client" generate --path openapi.json --config config.yml \
    --meta none --output-path weft_client --fail-on-warning
  cp "$root"/test/document/clients/*.py "$work"
  check 'the models of datamodel-code-generator hold what is sent' "$py/python" datamodel_calls.py
  check 'the client of openapi-python-client makes calls' "$py/python" python_client_calls.py
else
  skip 'the document in Python' 'pip cannot install the tools' pip
fi

if wait "$jar_download"; then
  generate() {
    check "openapi-generator $1" java -jar "$work/jar/openapi-generator-cli-$OPENAPI_GENERATOR.jar" generate \
      -i openapi.json -g "$1" -o "$2"
  }
  if [ -n "${bin:-}" ]; then
    generate typescript-fetch js/generated
    compile 'openapi-generator typescript-fetch' generator-calls
  fi
  if [ -n "$has_python" ]; then
    generate python generated
    check 'the client of openapi-generator python makes calls' env PYTHONPATH="$work/generated" \
      "$py/python" generator_calls.py
  fi
else
  skip openapi-generator 'there is no java, or its jar cannot be had' mvn
fi

[ -n "$has_python" ] || exit 0
cat >"$work/schemathesis.toml" <<TOML
[auth.openapi.basic]
username = "api"
password = "$SERVER_KEY"

[auth.openapi.bearer]
bearer = "$SERVER_KEY"
TOML
# A server of its own, whose models are asked at an engine that always answers at once.
node test/document/fuzz-upstream.ts "$work/models.json" >"$work/upstream.log" 2>&1 &
processes+=($!)
for _ in $(seq 100); do
  grep -q listens "$work/upstream.log" && break
  sleep 0.2
done
WEFT_MODELS_FILE=$work/models.json start_server fuzzed
FUZZED_URL=$(address_of fuzzed)
# Without the route that waits for as long as a request asks for.
check 'schemathesis finds nothing' timeout "$FUZZ_SECONDS_MAX" "$py/schemathesis" --config-file schemathesis.toml run openapi.json \
  --exclude-path /v1/preview/worker/claim \
  --url "$FUZZED_URL" --seed "$SEED" --max-examples "$FUZZ_EXAMPLES" --workers 2 --phases fuzzing --no-color \
  --generation-database none --suppress-health-check all --warnings off --continue-on-failure --request-timeout 60 \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,ignored_auth
grep -E "Operations:  |generated," "$work/output"
