#!/usr/bin/env bash
# Runs the client libraries of clients.txt against a server of their own, each in an environment of its own: on tiny, and
# through the relay to a second server. Prints the table of docs/clients.md; with --write it also goes there. A cell that
# fails fails the script; a library that cannot be installed is told as skipped.
#
# CLIENTS_DIR keeps the environments for the next time. CLIENTS_SECONDS stops beginning clients after that time.
# An argument names programs to be run, as `litellm_client|ai-sdk`.
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=test/sdk/clients
write=
[ "${1:-}" != --write ] || { write=1 && shift; }
only=${1:-.*}
work=$(mktemp -d)
envs=${CLIENTS_DIR:-$work/envs}
mkdir -p "$envs" "$work/home"
servers=()
stop() {
  [ ${#servers[@]} = 0 ] || kill "${servers[@]}" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

key=wk_key_of_the_clients_test
# Starts a server with a models file; its address goes to `url`.
start() {
  local name=$1
  WEFT_DATA_DIR=$work/$name WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$key WEFT_MODELS_FILE=$work/$name.json UPSTREAM_KEY=$key \
    node_modules/.bin/node src/server.ts >"$work/$name.log" 2>&1 &
  servers+=($!)
  for _ in $(seq 150); do
    url=$(grep -o 'http://127.0.0.1:[0-9]*' "$work/$name.log" | head -n 1) && return
    sleep 0.2
  done
  echo "not ok: the server $name did not start" && cat "$work/$name.log" && exit 1
}
echo '{"models": [{"id": "tiny", "backend": "tiny"}]}' >"$work/upstream.json"
start upstream
cat >"$work/server.json" <<JSON
{"models": [{"id": "tiny", "backend": "tiny"}, {"id": "relayed", "backend": "openai", "base_url": "$url/v1",
  "upstream_model": "tiny", "api_key_env": "UPSTREAM_KEY", "tools": true,
  "capabilities": ["chat", "completions", "embeddings", "tokenize"]}]}
JSON
start server

# Compiles all clients of a language by the manifest in its folder, in a copy of it.
compile() {
  cp -r "$here/$1/." "$2" && cd "$2"
  case $1 in
    go) timeout 900 go build -o bin/ ./... ;;
    rust) timeout 900 cargo build --quiet --locked ;;
    java) timeout 900 mvn --quiet --batch-mode package ;;
  esac
}

# Makes the environment of a client, unless it is there.
install() {
  local language=$1 dir=$2 packages=$3
  [ ! -f "$dir/done" ] || return 0
  mkdir -p "$dir"
  if [ -n "$(manifest_of "$language")" ]; then
    (compile "$language" "$dir")
  elif [ "$language" = node ]; then
    echo '{"private": true, "type": "module"}' >"$dir/package.json"
    # Word by word: they are several packages.
    (cd "$dir" && timeout 240 npm install --silent --ignore-scripts --no-audit --no-fund $packages)
    cp "$here"/node/*.mjs "$dir"
  elif command -v uv >/dev/null; then
    uv venv --quiet --clear "$dir/venv" && VIRTUAL_ENV="$dir/venv" timeout 240 uv pip install --quiet $packages
  else
    python3 -m venv "$dir/venv" && timeout 240 "$dir/venv/bin/pip" install --quiet --retries 1 --disable-pip-version-check $packages
  fi && touch "$dir/done"
}

# The file with the versions of a language's clients, where they are compiled.
manifest_of() {
  case $1 in
    go) echo go.mod ;;
    rust) echo Cargo.toml ;;
    java) echo pom.xml ;;
  esac
}

# Runs a client's program with these settings and no others.
run() {
  local language=$1 program=$2 dir=$3 command
  case $language in
    python) command=("$dir/venv/bin/python" "$here/python/$program.py") ;;
    node) cp "$here"/node/*.mjs "$dir" && command=(node_modules/.bin/node "$dir/$program.mjs") ;;
    go) command=("$dir/bin/$program") ;;
    rust) command=("$dir/target/debug/$program") ;;
    java) command=(java -cp "$dir/target/classes:$dir/target/dependency/*" "$program") ;;
  esac
  env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work" LANG=C.UTF-8 OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=$key \
    MODELS="tiny relayed" PYTHONDONTWRITEBYTECODE=1 LITELLM_LOCAL_MODEL_COST_MAP=True MASTRA_TELEMETRY_DISABLED=1 \
    HAYSTACK_TELEMETRY_ENABLED=False timeout 300 "${command[@]}" 2>"$work/$program.err"
}

began=$SECONDS
while IFS='|' read -r language program name packages; do
  [[ $language != '#'* && $program =~ ^($only)$ ]] || continue
  skip() { echo "skip:$language|$name|$1" | tee -a "$work/cells"; }
  if [ $((SECONDS - began)) -gt "${CLIENTS_SECONDS:-100000}" ]; then
    skip 'there was no time left' && continue
  fi
  dir=$envs/$language-$(tr -c 'a-zA-Z0-9.\n' '-' <<<"$packages")
  manifest=$(manifest_of "$language")
  if [ -n "$manifest" ]; then
    dir=$envs/$language
    grep -A1 -E "${packages%@*}\b" "$here/$language/$manifest" | grep -qF "${packages##*@}" ||
      { echo "not ok: $manifest has another version than $packages" && exit 1; }
  fi
  install "$language" "$dir" "$packages" >"$work/install.log" 2>&1 </dev/null ||
    { skip "it cannot be installed: $(tail -n 1 "$work/install.log")" && continue; }
  echo "client:$language|$name|${packages%% *}" | tee -a "$work/cells"
  run "$language" "$program" "$dir" </dev/null | { grep '^cell:' || true; } | tee -a "$work/cells" ||
    { echo "broke:$program" | tee -a "$work/cells" && tail -n 20 "$work/$program.err"; }
done <"$here/clients.txt"

node_modules/.bin/node "$here/table.ts" "$work/cells" ${write:+docs/clients.md}
