#!/bin/sh
# pino 10.4.0 (sonic-boom 4.2.1), Node 20.20.2, Linux: `flushSync` of a buffered destination never returns when the
# disk is full or the reader of the pipe has left. It retries after every error, not only after EAGAIN and EBUSY, and
# sleeps between the attempts, so that no timer and no signal handler of the process runs either. `fatal` calls it.
#
# Seen: with `flushSync` both programs run until they are killed after 5 s (137); with `flush`, which reports the error
# as an event, both end at once (0).
# Weft: src/server.ts replaces `flushSync` of its destination by `flush`.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund pino@10.4.0 sonic-boom@4.2.1 >/dev/null
cat > flush.cjs <<'JS'
const destination = require('pino').destination({ minLength: 4096, sync: true })
destination.on('error', () => undefined)
require('pino')({}, destination).info('one line')
destination[process.argv[2]]()
JS
run() {
  set +e
  timeout -s KILL 5 node flush.cjs "$1" > "$2"
  code=$?
  set -e
  echo "$1 to $2: exit code $code"
}
# The reader of the pipe is gone when the program writes.
run_left() {
  {
    set +e
    sleep 1
    timeout -s KILL 5 node flush.cjs "$1"
    echo $? > code
  } | true
  code=$(cat code)
  echo "$1 to a left pipe: exit code $code"
}
run flushSync /dev/full
[ "$code" = 137 ]
run flush /dev/full
[ "$code" = 0 ]
run_left flushSync
[ "$code" = 137 ]
run_left flush
[ "$code" = 0 ]
