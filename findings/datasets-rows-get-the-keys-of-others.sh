#!/usr/bin/env bash
# datasets==3.6.0 and datasets==4.8.5 (PyPI) give the rows of a column one type. A row of tools gets the parameters of other rows' tools, as null, and a
# template then shows the model parameters that its tool does not have: with `load_dataset("json")` of 3.6.0, and with
# `Dataset.from_list` of 4.8.5, too, whose JSON loader keeps such members as they are. A file with contents that are texts in
# some rows and lists in others is refused by 3.6.0 and read by 4.8.5. Expected: each row as it was written, by both ways.
# Seen with Python 3.11: see the checks at the end.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/try.py" <<'PY'
import json
import sys

from datasets import Dataset, load_dataset


def tool(name):
    return {"name": name, "properties": {name: {"type": "string"}}}


def load(rows):
    with open(f"{sys.argv[1]}/rows.jsonl", "w") as file:
        file.write("\n".join(json.dumps(row) for row in rows))
    return load_dataset("json", data_files=file.name, split="train", cache_dir=f"{sys.argv[1]}/cache")


rows = [{"tools": [tool("city")]}, {"tools": [tool("numbers")]}]
print("loaded:", json.dumps(load(rows)[0]["tools"][0]["properties"]))
print("from_list:", json.dumps(Dataset.from_list(rows)[0]["tools"][0]["properties"]))
try:
    load([{"content": "a"}, {"content": ["b"]}])
    print("mixed: read")
except Exception as error:
    print("mixed:", type(error).__name__)
PY
run() {
  python3 -m venv "$work/$1"
  "$work/$1/bin/pip" -q --disable-pip-version-check install "$1"
  mkdir "$work/$1-data"
  "$work/$1/bin/python" "$work/try.py" "$work/$1-data" 2>/dev/null
}
merged='{"city": {"type": "string"}, "numbers": null}'
own='{"city": {"type": "string"}}'
diff <(run datasets==3.6.0) <(printf '%s\n' "loaded: $merged" "from_list: $merged" 'mixed: DatasetGenerationError')
diff <(run datasets==4.8.5) <(printf '%s\n' "loaded: $own" "from_list: $merged" 'mixed: read')
echo 'as described'
