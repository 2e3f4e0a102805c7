#!/bin/sh
# fastparquet==2026.9.0 (PyPI), reading a file that pyarrow==26.0.1 has written from a table of Arrow.
#
# Parquet says of a timestamp whether it is an instant (isAdjustedToUTC) or a local time. An instant should be read with the
# zone UTC, as pyarrow and pandas do, and a local time without. Both are read without, so that nobody can tell them apart. It has
# the zone only where pandas wrote the file, in whose own metadata the zone is, too.
#
# Output seen:
#   instant: fastparquet datetime64[us], pyarrow datetime64[us, UTC]
#   local time: fastparquet datetime64[us], pyarrow datetime64[us]
#   instant written by pandas: fastparquet datetime64[us, UTC], pyarrow datetime64[us, UTC]
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install --disable-pip-version-check fastparquet==2026.9.0 pyarrow==26.0.1 pandas==3.1.1
cat > "$dir/run.py" <<'PY'
import datetime
import sys

import fastparquet
import pandas
import pyarrow
import pyarrow.parquet

path = f"{sys.argv[1]}/times.parquet"

def show(name):
    seen = fastparquet.ParquetFile(path).to_pandas().dtypes["at"]
    print(f"{name}: fastparquet {seen}, pyarrow {pandas.read_parquet(path, engine='pyarrow').dtypes['at']}")

def write(zone):
    times = pyarrow.array([datetime.datetime(2026, 7, 1, 12)], pyarrow.timestamp("us", zone))
    pyarrow.parquet.write_table(pyarrow.table({"at": times}), path)

write("UTC")
show("instant")
write(None)
show("local time")
pandas.DataFrame({"at": pandas.to_datetime(["2026-07-01T12:00Z"])}).to_parquet(path, engine="pyarrow")
show("instant written by pandas")
PY
"$dir/venv/bin/python" "$dir/run.py" "$dir" | tee "$dir/seen"
diff "$dir/seen" - <<'SEEN'
instant: fastparquet datetime64[us], pyarrow datetime64[us, UTC]
local time: fastparquet datetime64[us], pyarrow datetime64[us]
instant written by pandas: fastparquet datetime64[us, UTC], pyarrow datetime64[us, UTC]
SEEN
