#!/bin/sh
# Node 24.21.0 and 22.19.0: rmSync(folder, { recursive: true, force: true }) while someone else removes files of the folder.
#
# It should remove the folder or throw. With Node 24 it often returns without an error, and the folder stays: it looks as if a
# file that is gone ended the removal, and `force` hid that error. With Node 22 no folder stays.
#
# Output seen:
#   v22.19.0: no folder stays, 0 errors
#   v24.21.0: folders stay, 0 errors
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 22.19.0 24.21.0; do
  npm install --silent --no-audit --no-fund --prefix "$folder/$version" "node@$version" >/dev/null
done
cat > "$folder/run.mjs" <<'JS'
import { existsSync, mkdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'

const ROUNDS = 100
const FILES = 300
if (isMainThread) {
  let [stays, errors] = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const folder = `${process.argv[2]}/${round}`
    mkdirSync(folder, { recursive: true })
    for (let n = 0; n < FILES; n++) writeFileSync(`${folder}/${n}`, '')
    const begin = new Int32Array(new SharedArrayBuffer(4))
    const other = new Worker(new URL(import.meta.url), { workerData: { folder, begin } })
    await once(other, 'message')
    Atomics.store(begin, 0, 1)
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      errors += 1
    }
    await once(other, 'exit')
    if (existsSync(folder)) stays += 1
  }
  console.log(`${process.version}: ${stays === 0 ? 'no folder stays' : 'folders stay'}, ${errors} errors`)
} else {
  const { folder, begin } = workerData
  parentPort.postMessage('ready')
  while (Atomics.load(begin, 0) === 0);
  // Half of the files: the others are left to rmSync.
  for (let n = 0; n < FILES; n += 2) {
    try {
      unlinkSync(`${folder}/${n}`)
    } catch {}
  }
}
JS
seen=$(for version in 22.19.0 24.21.0; do
  "$folder/$version/node_modules/.bin/node" "$folder/run.mjs" "$folder/rounds-$version"
done)
echo "$seen"
[ "$seen" = "$(sed -n 's/^#   //p' "$0")" ]
