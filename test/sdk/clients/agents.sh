#!/usr/bin/env bash
# Lets command lines of agents, unmodified, write a file through Weft on a scripted engine, once of OpenAI's protocol and once
# of Anthropic's. Prints the rows of docs/clients.md. An argument names agents, as `codex|aider`. Installs 2 GB in all;
# CLIENTS_DIR keeps them for the next time, KEEP=1 the requests that the engine got.
set -euo pipefail
cd "$(dirname "$0")/../../.."

only=${1:-.*}
work=$(mktemp -d)
envs=${CLIENTS_DIR:-$work/envs}
mkdir -p "$envs"
pids=()
stop() {
  [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
  [ -n "${KEEP:-}" ] && echo "kept: $work" || rm -rf "$work"
}
trap stop EXIT
node=$PWD/node_modules/node/bin/node
path=${node%/node}:$PATH

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

# Installs packages of npm or PyPI into a folder, whose name goes to `dir`.
install() {
  local language=$1 name=$2 && shift 2
  dir=$envs/$name
  [ -f "$dir/done" ] && return
  mkdir -p "$dir"
  if [ "$language" = npm ]; then
    echo '{"private": true}' >"$dir/package.json"
    (cd "$dir" && timeout 500 npm install --silent --no-audit --no-fund "$@" >&2)
  else
    python3 -m venv "$dir" && timeout 500 "$dir/bin/pip" install --quiet --retries 1 --disable-pip-version-check "$@" >&2
  fi && touch "$dir/done"
}

target=$work/project/pong.txt
start "$work/upstream.log" '^[0-9]*$' TARGET="$target" REQUESTS="$work/requests" "$node" test/sdk/clients/scripted-upstream.ts
upstream=http://127.0.0.1:$found
# Agents send tools that a vendor runs, too: they are left out.
cat >"$work/models.json" <<JSON
{"models": [
  {"id": "openai-engine", "backend": "openai", "base_url": "$upstream/v1", "tools": true, "unsupported": "drop"},
  {"id": "anthropic-engine", "backend": "anthropic", "base_url": "$upstream", "unsupported": "drop"}]}
JSON
key=wk_key_of_the_agents_test
start "$work/weft.log" 'http://127.0.0.1:[0-9]*' WEFT_DATA_DIR="$work/data" WEFT_PORT=0 WEFT_BOOTSTRAP_KEY=$key \
  WEFT_MODELS_FILE="$work/models.json" "$node" src/server.ts
url=$found

# Runs a program in the project with these settings and no others.
clean() {
  (cd "$work/project" && env -i PATH="$path" HOME="$work/home" TMPDIR="$work" LANG=C.UTF-8 "$@" </dev/null)
}

claude_agent_sdk() {
  install pip claude-agent-sdk-0.2.189 claude-agent-sdk==0.2.189
  cat >"$work/agent.py" <<'PYTHON'
import asyncio
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

async def main():
    async for message in query(prompt='write pong', options=ClaudeAgentOptions(permission_mode='acceptEdits')):
        if isinstance(message, ResultMessage):
            print(message.subtype, message.num_turns, message.usage)

asyncio.run(main())
PYTHON
  clean ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=$key ANTHROPIC_MODEL="$1" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
    timeout 120 "$dir/bin/python" "$work/agent.py"
}

# The program of the Agent SDK, with two keys of which one is wrong, and the address with a path.
claude_code() {
  install pip claude-agent-sdk-0.2.189 claude-agent-sdk==0.2.189
  clean ANTHROPIC_BASE_URL="$url/anthropic" ANTHROPIC_AUTH_TOKEN=$key ANTHROPIC_API_KEY=another ANTHROPIC_MODEL="$1" \
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
    timeout 120 "$dir"/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude -p 'write pong' --permission-mode acceptEdits
}

codex() {
  install npm codex @openai/codex@0.171.0
  mkdir -p "$work/home/.codex"
  cat >"$work/home/.codex/config.toml" <<TOML
model = "$1"
model_provider = "weft"
[model_providers.weft]
name = "Weft"
base_url = "$url/v1"
wire_api = "responses"
env_key = "WEFT_KEY"
TOML
  clean WEFT_KEY=$key timeout 120 "$dir/node_modules/.bin/codex" exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox 'write pong'
}

# $2: the package of the AI SDK that it uses for the provider.
opencode() {
  install npm opencode opencode-ai@1.18.33
  cat >"$work/project/opencode.json" <<JSON
{"provider": {"weft": {"npm": "$2", "name": "Weft", "options": {"baseURL": "$url/v1", "apiKey": "$key"},
  "models": {"$1": {}}}}, "permission": {"edit": "allow", "external_directory": "allow"}, "autoupdate": false}
JSON
  clean timeout 120 "$dir/node_modules/.bin/opencode" run --model "weft/$1" 'write pong'
}
opencode_chat() { opencode "$1" @ai-sdk/openai-compatible; }
opencode_messages() { opencode "$1" @ai-sdk/anthropic; }

qwen_code_chat() {
  install npm qwen @qwen-code/qwen-code@0.24.4
  clean OPENAI_API_KEY=$key OPENAI_BASE_URL="$url/v1" OPENAI_MODEL="$1" \
    timeout 120 "$dir/node_modules/.bin/qwen" --auth-type openai --approval-mode yolo --prompt 'write pong'
}
qwen_code_messages() {
  install npm qwen @qwen-code/qwen-code@0.24.4
  clean ANTHROPIC_API_KEY=$key ANTHROPIC_BASE_URL="$url" ANTHROPIC_MODEL="$1" \
    timeout 120 "$dir/node_modules/.bin/qwen" --auth-type anthropic --approval-mode yolo --prompt 'write pong'
}

gemini_cli() {
  install npm gemini @google/gemini-cli@0.61.0
  mkdir -p "$work/home/.gemini"
  echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' >"$work/home/.gemini/settings.json"
  clean GEMINI_API_KEY=$key GOOGLE_GEMINI_BASE_URL="$url" GEMINI_CLI_TRUST_WORKSPACE=true \
    timeout 120 "$dir/node_modules/.bin/gemini" --yolo --model "$1" --prompt 'write pong'
}

# $1: the provider and the model as litellm spells them.
aider() {
  install pip aider aider-chat==0.86.2
  clean OPENAI_API_KEY=$key OPENAI_API_BASE="$url/v1" ANTHROPIC_API_KEY=$key ANTHROPIC_API_BASE="$url" \
    timeout 120 "$dir/bin/aider" --model "$1" --edit-format diff --no-git --yes-always --no-check-update --analytics-disable \
    --no-show-model-warnings --no-detect-urls --message 'write pong' pong.txt
}
aider_chat() { aider "openai/$1"; }
aider_messages() { aider "anthropic/$1"; }

# $1: the model; $2: the protocol as pi names it; $3: the address.
pi() {
  install npm pi @mariozechner/pi-coding-agent@0.73.1
  mkdir -p "$work/home/.pi/agent"
  cat >"$work/home/.pi/agent/models.json" <<JSON
{"providers": {"weft": {"baseUrl": "$3", "api": "$2", "apiKey": "WEFT_KEY", "models": [{"id": "$1"}]}}}
JSON
  clean WEFT_KEY=$key PI_OFFLINE=1 timeout 120 "$dir/node_modules/.bin/pi" --provider weft --model "$1" --print 'write pong'
}
pi_chat() { pi "$1" openai-completions "$url/v1"; }
pi_responses() { pi "$1" openai-responses "$url/v1"; }
pi_messages() { pi "$1" anthropic-messages "$url"; }

gptme() {
  install pip gptme gptme==0.35.1
  clean OPENAI_API_KEY=$key OPENAI_BASE_URL="$url/v1" \
    timeout 120 "$dir/bin/gptme" --non-interactive --tool-format tool --model "local/$1" 'write pong'
}

# $2: the provider as Continue names it.
continue_cli() {
  install npm continue @continuedev/cli@1.5.47
  cat >"$work/project/continue.yaml" <<YAML
name: weft
version: 1.0.0
schema: v1
models:
  - {name: weft, provider: $2, model: $1, apiBase: $3, apiKey: $key, roles: [chat], capabilities: [tool_use]}
YAML
  clean CONTINUE_TELEMETRY_ENABLED=0 timeout 120 "$dir/node_modules/.bin/cn" --config continue.yaml --auto -p 'write pong'
}
continue_chat() { continue_cli "$1" openai "$url/v1"; }
continue_messages() { continue_cli "$1" anthropic "$url/v1"; }

failed=0
# Runs an agent on a model; its cell goes to `cell`.
try() {
  local agent=$1 model=$2
  rm -rf "$work/project" "$work/home" && mkdir -p "$work/project" "$work/home"
  : >"$work/requests"
  "$agent" "$model" >"$work/$agent-$model.log" 2>&1 || true
  cp "$work/requests" "$work/$agent-$model.requests"
  cell="ok ($(wc -l <"$work/requests"))"
  # The first line of the system prompt of Claude Code differs between its requests, so that it spoils caches of prefixes.
  ! grep -q '^/v1/chat.*x-anthropic-billing-header' "$work/requests" || { cell='the billing line was sent' && failed=1; }
  [ "$(cat "$target" 2>/dev/null)" = pong ] || { cell=failed && failed=1 && tail -n 20 "$work/$agent-$model.log" >&2; }
}

while IFS='|' read -r agent name version protocol; do
  [[ $agent =~ ^($only)$ ]] || continue
  try "$agent" openai-engine && openai=$cell
  try "$agent" anthropic-engine
  echo "| $name | $version | $protocol | $openai | $cell |"
done <<'AGENTS'
claude_agent_sdk|claude-agent-sdk|0.2.189|messages
claude_code|Claude Code|0.2.189 of the SDK|messages
codex|Codex|0.171.0|responses
opencode_chat|opencode|1.18.33|chat
opencode_messages|opencode|1.18.33|messages
qwen_code_chat|qwen-code|0.24.4|chat
qwen_code_messages|qwen-code|0.24.4|messages
gemini_cli|gemini-cli|0.61.0|generateContent
aider_chat|aider|0.86.2|chat
aider_messages|aider|0.86.2|messages
pi_chat|pi|0.73.1|chat
pi_responses|pi|0.73.1|responses
pi_messages|pi|0.73.1|messages
gptme|gptme|0.35.1|chat
continue_chat|Continue CLI|1.5.47|chat
continue_messages|Continue CLI|1.5.47|messages
AGENTS
exit $failed
