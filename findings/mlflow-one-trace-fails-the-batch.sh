#!/bin/sh
# mlflow 3.17.2, a tracking server with SQLite, and two traces: one with spans in its database, one without.
#
# GET /api/3.0/mlflow/traces/batchGet for both should give the one that it has, as it does for an id that is unknown. It
# responds with 500 and gives none. The client makes such traces by itself: where it cannot find out the server's version, it
# puts the spans into the artifact store without a word, and traces/search lists them like all others.
#
# Output seen:
#   with an unknown one: 200 1
#   with one without spans: 500 0
set -eu
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; sleep 1; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check mlflow==3.17.2
MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false "$folder/venv/bin/mlflow" server --host 127.0.0.1 --port 15216 --workers 1 \
  --backend-store-uri "sqlite:///$folder/mlflow.db" --artifacts-destination "$folder/artifacts" >"$folder/log" 2>&1 &
server=$!
cat > "$folder/run.py" <<'PY'
import json
import time
import urllib.error
import urllib.request

import mlflow
from mlflow.entities import TraceInfo, TraceLocation, TraceState
from mlflow.tracing.client import TracingClient

URL = "http://127.0.0.1:15216"
for _ in range(300):
    try:
        urllib.request.urlopen(f"{URL}/health")
        break
    except OSError:
        time.sleep(0.5)
mlflow.set_tracking_uri(URL)
mlflow.set_experiment("one")
with mlflow.start_span("whole") as span:
    pass
mlflow.flush_trace_async_logging()
location = TraceLocation.from_experiment_id(mlflow.get_experiment_by_name("one").experiment_id)
bare = TraceInfo("tr-" + "b" * 32, location, int(time.time() * 1000), TraceState.OK)
TracingClient().start_trace(bare)


def ask(*ids):
    query = "&".join(f"trace_ids={one}" for one in ids)
    try:
        with urllib.request.urlopen(f"{URL}/api/3.0/mlflow/traces/batchGet?{query}") as response:
            return f"{response.status} {len(json.load(response).get('traces', []))}"
    except urllib.error.HTTPError as error:
        return f"{error.code} 0"


print("with an unknown one:", ask(span.trace_id, "tr-" + "c" * 32))
print("with one without spans:", ask(span.trace_id, bare.trace_id))
PY
"$folder/venv/bin/python" "$folder/run.py" 2>/dev/null | grep '^with' > "$folder/seen"
cat "$folder/seen"
printf 'with an unknown one: 200 1\nwith one without spans: 500 0\n' | diff - "$folder/seen"
