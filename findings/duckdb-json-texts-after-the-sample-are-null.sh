#!/bin/sh
# duckdb==2.0.1 (PyPI), reading JSON lines without a list of columns.
#
# A member that is null in many lines and a text in later ones, such as the error of rare failures, should be read as text, or
# the read should fail as it does for a number that becomes a text. If the first text comes after the 20,480 lines of the
# sample, the column has the type NULL, and each text is read as null without a word. With sample_size=-1 or columns they are read.
#
# Output seen:
#   null, then text: type "NULL", texts 0 of 5000
#   number, then text: InvalidInputException
#   null, then text, sample_size=-1: type VARCHAR, texts 5000 of 5000
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install --disable-pip-version-check duckdb==2.0.1
cat > "$dir/run.py" <<'PY'
import json, sys
import duckdb

def write(name, early):
    path = f"{sys.argv[1]}/{name}.jsonl"
    with open(path, "w") as file:
        for n in range(30_000):
            file.write(json.dumps({"id": n, "error": early if n < 25_000 else "boom"}) + "\n")
    return path

def read(name, path, options=""):
    table = f"read_json('{path}'{options})"
    try:
        kind = dict(duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM {table})").fetchall())["error"]
        [(texts,)] = duckdb.sql(f"SELECT count(error) FROM {table}").fetchall()
        print(f"{name}: type {kind}, texts {texts} of 5000")
    except duckdb.Error as error:
        print(f"{name}: {type(error).__name__}")

read("null, then text", write("null", None))
read("number, then text", write("number", 7))
read("null, then text, sample_size=-1", write("null", None), ", sample_size=-1")
PY
"$dir/venv/bin/python" "$dir/run.py" "$dir" | tee "$dir/seen"
diff "$dir/seen" - <<'SEEN'
null, then text: type "NULL", texts 0 of 5000
number, then text: InvalidInputException
null, then text, sample_size=-1: type VARCHAR, texts 5000 of 5000
SEEN
