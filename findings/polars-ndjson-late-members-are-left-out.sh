#!/bin/sh
# polars==2.1.0 (PyPI), read_ndjson and scan_ndjson without a schema.
#
# A member that the first 100 lines do not have, such as the error of rare failures, should become a column, or the read
# should fail as it does for a member that is null in them. The column is left out without a word, and all its values with it.
# With infer_schema_length=None or a schema it is there.
#
# Output seen:
#   missing in 100 lines, read_ndjson: columns id
#   missing in 100 lines, scan_ndjson: columns id
#   null in 100 lines, read_ndjson: ComputeError
#   missing in 100 lines, all lines inferred: columns id, error
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install --disable-pip-version-check polars==2.1.0
cat > "$dir/run.py" <<'PY'
import io
import json

import polars

def lines(early):
    rows = [{"id": n, **(early if n < 100 else {"error": "boom"})} for n in range(200)]
    return io.BytesIO("\n".join(map(json.dumps, rows)).encode())

def read(name, load):
    try:
        print(f"{name}: columns {', '.join(load().columns)}")
    except polars.exceptions.PolarsError as error:
        print(f"{name}: {type(error).__name__}")

read("missing in 100 lines, read_ndjson", lambda: polars.read_ndjson(lines({})))
read("missing in 100 lines, scan_ndjson", lambda: polars.scan_ndjson(lines({})).collect())
read("null in 100 lines, read_ndjson", lambda: polars.read_ndjson(lines({"error": None})))
read("missing in 100 lines, all lines inferred", lambda: polars.read_ndjson(lines({}), infer_schema_length=None))
PY
"$dir/venv/bin/python" "$dir/run.py" | tee "$dir/seen"
diff "$dir/seen" - <<'SEEN'
missing in 100 lines, read_ndjson: columns id
missing in 100 lines, scan_ndjson: columns id
null in 100 lines, read_ndjson: ComputeError
missing in 100 lines, all lines inferred: columns id, error
SEEN
