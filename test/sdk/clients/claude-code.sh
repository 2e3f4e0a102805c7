#!/usr/bin/env bash
# Lets Claude Code, as the Agent SDK carries it, write a file through Weft on an upstream of the OpenAI protocol that is a
# script. Installs 180 MB; CLIENTS_DIR keeps them for the next time.
set -euo pipefail
cd "$(dirname "$0")/../../.."

version=0.2.189
work=$(mktemp -d)
envs=${CLIENTS_DIR:-$work/envs}
pids=()
stop() {
  [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
mkdir -p "$work/home" "$work/project" "$envs"

sdk=$envs/claude-agent-sdk-$version
[ -f "$sdk/done" ] || {
  python3 -m venv "$sdk" && "$sdk/bin/pip" install --quiet --no-deps "claude-agent-sdk==$version" && touch "$sdk/done"
}
claude=$(echo "$sdk"/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude)

# Starts a program and waits until a pattern is in its output; the match goes to `found`.
start() {
  local log=$1 pattern=$2 && shift 2
  env "$@" >"$log" 2>&1 &
  pids+=($!)
  for _ in $(seq 150); do
    found=$(grep -om1 "$pattern" "$log") && return
    sleep 0.2
  done
  echo "not ok: $* did not start" && cat "$log" && exit 1
}
node=node_modules/.bin/node
start "$work/upstream.log" '^[0-9]*$' TARGET="$work/project/pong.txt" REQUESTS="$work/requests" \
  "$node" test/sdk/clients/scripted-upstream.ts
echo "{\"models\": [{\"id\": \"any\", \"backend\": \"openai\", \"base_url\": \"http://127.0.0.1:$found/v1\", \"tools\": true}]}" \
  >"$work/models.json"
key=wk_key_of_the_claude_code_test
start "$work/weft.log" 'http://127.0.0.1:[0-9]*' WEFT_DATA_DIR="$work/data" WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$key \
  WEFT_MODELS_FILE="$work/models.json" "$node" src/server.ts

# Both variables of a key, since it then sends two, one of which is wrong.
(cd "$work/project" && env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work" ANTHROPIC_BASE_URL="$found/anthropic" \
  ANTHROPIC_AUTH_TOKEN=$key ANTHROPIC_API_KEY=another ANTHROPIC_MODEL=any CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
  timeout 120 "$claude" -p 'write pong' --permission-mode acceptEdits </dev/null)
[ "$(cat "$work/project/pong.txt")" = pong ] || { echo 'not ok: the file was not written' && exit 1; }
! grep -q x-anthropic-billing-header "$work/requests" || { echo 'not ok: the billing line was sent' && exit 1; }
[ "$(wc -l <"$work/requests")" = 2 ] || { echo 'not ok: the upstream got other requests than two' && exit 1; }
echo 'ok: the file was written in two requests'
