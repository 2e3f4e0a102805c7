#!/bin/sh
# lm-evaluation-harness (lm-eval 0.4.13 from PyPI), its model local-completions with an eos_string.
#
# How many requests are sent at a time should change how long a run takes, not what is asked. With num_concurrent=1 the end
# string is one of the stops of each request; with num_concurrent=2 it is in none, so that a server that returns it as text
# is scored with what follows it.
#
# Output seen:
#   local-completions, 1 at a time: stop ["\n\n", "<|end|>"], answers ["7", "7"]
#   local-completions, 2 at a time: stop ["\n\n"], answers ["7<|end|>8", "7<|end|>8"]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check 'lm-eval[api]==0.4.13'
cat > "$folder/run.py" <<'PY'
import http.server, json, threading
from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import LocalCompletionsAPI

stops = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        stop = json.loads(self.rfile.read(int(self.headers["content-length"])))["stop"]
        stops.append(stop)
        text = "7<|end|>8"
        for end in stop:
            text = text.split(end)[0]
        body = json.dumps({"choices": [{"index": 0, "text": text}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for count in (1, 2):
    stops.clear()
    url = f"http://127.0.0.1:{server.server_port}/v1/completions"
    settings = {"tokenizer_backend": None, "eos_string": "<|end|>", "num_concurrent": count}
    model = LocalCompletionsAPI(model="m", base_url=url, **settings)
    asked = [Instance("generate_until", {}, (text, {"until": ["\n\n"]}), 0) for text in ("3+4=", "4+3=")]
    answers = model.generate_until(asked)
    print(f"local-completions, {count} at a time: stop {json.dumps(stops[0])}, answers {json.dumps(answers)}")
PY
"$folder/venv/bin/python" "$folder/run.py" 2>/dev/null | tee "$folder/seen"
diff "$folder/seen" - <<'SEEN'
local-completions, 1 at a time: stop ["\n\n", "<|end|>"], answers ["7", "7"]
local-completions, 2 at a time: stop ["\n\n"], answers ["7<|end|>8", "7<|end|>8"]
SEEN
