#!/usr/bin/env bash
# Runs the libraries of emitters.txt, which send OpenTelemetry or speak a protocol of Weft's, against a provider that
# gives every answer other counts. Each sends to a project of its own of a real server, whose API is then asked what it
# shows: a row of a table for each library. A program that breaks fails the script.
#
# EMITTERS_DIR keeps the environments for the next time. EMITTERS_DUMP is a folder for the calls as they are shown. An argument names programs to be run, as `openai_v2|logfire_.*`.
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=test/sdk/emitters
only=${1:-.*}
work=$(mktemp -d)
envs=${EMITTERS_DIR:-$work/envs}
mkdir -p "$envs" "$work/home"
started=()
stop() {
  [ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

# Waits for the first address in a file, which goes to `url`.
read_address() {
  for _ in $(seq 150); do
    url=$(grep -o 'http://127.0.0.1:[0-9]*' "$1" | head -n 1) && return
    sleep 0.2
  done
  echo "not ok: $1 has no address" && cat "$1" && exit 1
}

node=node_modules/.bin/node
key=wk_key_of_the_emitters_test
project_of() { echo "acme/$(tr -c 'a-z0-9\n' '-' <<<"$1")"; }
"$node" "$here/provider/server.ts" >"$work/provider.log" 2>&1 &
started+=($!)
read_address "$work/provider.log" && provider=$url
WEFT_DATA_DIR=$work/data WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$key "$node" src/server.ts >"$work/server.log" 2>&1 &
started+=($!)
read_address "$work/server.log" && weft=$url

# Compiles the program of a folder, as `go/genkit`, by the manifest in it.
build() {
  local dir=$1 name=${2#*/}
  case $2 in
    go/*) (cd "$dir/$name" && timeout 900 go build -o "$dir/program" .) ;;
    rust/*) (cd "$dir/$name" && CARGO_TARGET_DIR=$dir/target timeout 900 cargo build --quiet --locked) ;;
    java/*) (cd "$dir/$name" && timeout 900 mvn --quiet --batch-mode package) ;;
  esac
}

# Makes the environment of a group of libraries, unless it is there.
install() {
  local dir=$1 packages=$2
  [ ! -f "$dir/done" ] || return 0
  if [[ $packages = build\ * ]]; then
    mkdir -p "$dir" && cp -r "$here/$(dirname "${packages#build }")/." "$dir" && build "$dir" "${packages#build }" && touch "$dir/done"
    return
  fi
  # Word by word: they are several packages.
  if [[ $packages = npm\ * ]]; then
    mkdir -p "$dir" && echo '{"private": true, "type": "module"}' >"$dir/package.json" &&
      (cd "$dir" && timeout 180 npm install --no-audit --no-fund --silent --ignore-scripts --legacy-peer-deps ${packages#npm }) &&
      touch "$dir/done"
    return
  fi
  if command -v uv >/dev/null; then
    uv venv --quiet --clear "$dir" && VIRTUAL_ENV="$dir" timeout 180 uv pip install --quiet $packages
  else
    python3 -m venv "$dir" && timeout 180 "$dir/bin/pip" install --quiet --retries 1 --disable-pip-version-check $packages
  fi && touch "$dir/done"
}

# A key for one project, from which a library that names none gets it.
key_of() {
  local body="{\"svc_user_id\": \"emitter\", \"scopes\": [\"traces:write\"], \"projects\": [\"$1\"]}"
  curl -s "$weft/v1/keys" -H "authorization: Bearer $key" -H 'content-type: application/json' -d "$body" |
    grep -o 'wk_[A-Za-z0-9_-]*' | head -n 1
}

# Runs a program with these settings and no others.
run() {
  local program=$1 dir=$2 project=$3 lib run
  shift 3
  case $program in
    # Node looks for packages where a program lies.
    node/*) cp "$here"/node/*.mjs "$dir" && run=("$PWD/$node" "$dir/${program#node/}.mjs") ;;
    go/*) run=("$dir/program") ;;
    rust/*) run=("$dir/target/debug/${program#*/}") ;;
    java/*)
      lib=$dir/${program#*/}/target run=(java)
      [ ! -f "$lib"/dependency/opentelemetry-javaagent-*.jar ] || run+=(-javaagent:"$(echo "$lib"/dependency/opentelemetry-javaagent-*.jar)")
      if [ -d "$lib/quarkus-app" ]; then run+=(-jar "$lib/quarkus-app/quarkus-run.jar"); else run+=(-cp "$lib/classes:$lib/dependency/*" Main); fi
      ;;
    *) run=("$dir/bin/python" "$here/python/$program.py") ;;
  esac
  env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work" LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
    PROVIDER_URL="$provider" WEFT_URL="$weft" WEFT_KEY=$key PROJECT="$project" PROJECT_KEY="$(key_of "$project")" \
    OTEL_EXPORTER_OTLP_ENDPOINT="$weft" OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf \
    OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$key,project_id=$project" "$@" \
    timeout 120 "${run[@]}" >"$work/$(basename "$program").out" 2>&1
}

declare -A groups
while IFS='|' read -r program rest; do
  [[ -n $program && $program != '#'* ]] || continue
  if [[ $program == group\ * ]]; then
    groups[${program#group }]=$rest && continue
  fi
  [[ $program =~ ^($only)$ ]] || continue
  IFS='|' read -r group name settings <<<"$rest"
  dir=$envs/$group
  install "$dir" "${groups[$group]}" >"$work/install.log" 2>&1 </dev/null ||
    { echo "skip:$name, which cannot be installed: $(tail -n 1 "$work/install.log")" | tee -a "$work/lines" && continue; }
  echo "emitter:$name" | tee -a "$work/lines"
  project=$(project_of "$name")
  checker() { WEFT_URL=$weft WEFT_KEY=$key PROVIDER_URL=$provider PROJECT=$project EMITTERS_DUMP=${EMITTERS_DUMP:-} "$node" "$here/check.ts" "$@"; }
  checker prepare
  run "$program" "$dir" "$project" $settings </dev/null ||
    { echo "broke:$name" | tee -a "$work/lines" && tail -n "${EMITTERS_LINES:-5}" "$work/$(basename "$program").out"; }
  checker </dev/null | tee -a "$work/lines"
done <"$here/emitters.txt"

"$node" "$here/table.ts" "$work/lines"
