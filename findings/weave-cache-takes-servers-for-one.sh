#!/bin/sh
# weave 0.54.0, its cache of requests, which is on by default and lies in the system's folder for temporary files.
#
# A file that is stored on one server, and then on a second one under the same name of a project, should be sent to both. The
# second upload is taken from the cache: its key is the project and the content, not the address, and the cache outlives
# the program. So a publish to a new or emptied server succeeds, and what it names is missing there, until
# WEAVE_USE_SERVER_CACHE=false or another WEAVE_SERVER_CACHE_DIR. Each call of `upload` here is a program of its own.
#
# Output seen: first server: 1, second server: 0, without the cache: 1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install --disable-pip-version-check weave==0.54.0
mkdir "$folder/tmp"
cat > "$folder/run.py" <<'PY'
from weave.trace_server_bindings.caching_middleware_trace_server import CachingMiddlewareTraceServer
from weave.trace_server_bindings import caching_middleware_trace_server as module

sent = []


class Server:
    """The trace server behind the cache: its address is of no concern to that."""

    def file_create(self, req):
        sent.append(req)
        return module.FileCreateResponse(digest="d")


server = CachingMiddlewareTraceServer.from_env(Server())
server.file_create({"project_id": "acme/shop", "file": ("a.txt", b"hello")})
print(len(sent))
PY
upload() { TMPDIR="$folder/tmp" "$folder/venv/bin/python" "$folder/run.py" 2>/dev/null; }
seen="first server: $(upload), second server: $(upload), without the cache: $(WEAVE_USE_SERVER_CACHE=false upload)"
echo "$seen"
[ "$seen" = 'first server: 1, second server: 0, without the cache: 1' ]
