/**
 * How much refs slow down the writing of calls, and how long it takes to find the calls that use one:
 *
 *   npm run bench -- refs --calls 100000
 *
 * Half of the refs are of 20 objects that all calls share, half are of rows that no other call has.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { resolveCallsSelection } from '../src/domain/calls/calls-query.ts'
import { resolveCallEnd, resolveCallStart } from '../src/domain/calls/new-call.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'

const { values } = readArguments({ options: { calls: { type: 'string', default: '100000' } } })
const CALLS = readCount(values.calls)
const BATCH = 100
const REF = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789aBcDeFg'
const project_id = 'acme/demo'
const user = { svc_user_id: 'u', svc_username: 'u' }

/** The two refs of a call; null for calls without refs. */
function partsOf(n: number, hasRefs: boolean) {
  const id = `01980000-${(n >>> 16).toString(16).padStart(4, '0')}-7000-8000-${n.toString(16).padStart(12, '0')}`
  const inputs = hasRefs
    ? {
        self: `weave:///acme/demo/object/model_${n % 20}:${REF}`,
        row: `weave:///acme/demo/object/row_${n}:${REF}`,
      }
    : { self: `model_${n % 20}`, row: `row_${n}` }
  const started = { project_id, id, trace_id: id, op_name: 'predict', attributes: {}, inputs }
  const started_at = new Date(1_780_000_000_000 + n).toISOString()
  const start = resolveCallStart({ ...started, started_at }, { id, trace_id: id, ...user }, 'weave')
  const end = { project_id, id, ended_at: started_at, output: 'yes', summary: {} }
  return { start, end: resolveCallEnd(end, 'weave') }
}

/** @returns microseconds of CPU a call */
async function write(store: ReturnType<typeof openSqliteStore>, from: number, hasRefs: boolean) {
  const batches = Array.from({ length: CALLS / BATCH }, (_, batch) =>
    Array.from({ length: BATCH }, (_, n) => partsOf(from + batch * BATCH + n, hasRefs)),
  )
  const before = process.cpuUsage()
  for (let at = 0; at < batches.length; at += 4) {
    await Promise.all(batches.slice(at, at + 4).map((parts) => store.calls.writeParts(parts)))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}

const dataDir = mkdtempSync(join(tmpdir(), 'weft-refs-'))
const store = openSqliteStore({ dataDir, ingestQueueMax: 100_000 })
try {
  await write(store, 0, true)
  for (const [title, round, hasRefs] of [
    ['without refs', 1, false],
    ['with refs', 2, true],
    ['without refs', 3, false],
    ['with refs', 4, true],
  ] as const) {
    const us = await write(store, round * CALLS, hasRefs)
    console.log(`${title}: ${us.toFixed(1)} us of CPU a call`)
  }
  for (const name of ['model_7', `row_${CALLS / 2}`]) {
    const filter = { input_refs: [`weave:///acme/demo/object/${name}:${REF}`] }
    const caller = { keyId: 'k', project_id, signal: new AbortController().signal }
    const began = performance.now()
    const selection = resolveCallsSelection({ project_id, filter })
    const { count } = await store.callsQuery.count(selection, caller)
    console.log(`${count} calls of ${name}: ${(performance.now() - began).toFixed(1)} ms`)
  }
} finally {
  await store.close()
  rmSync(dataDir, { recursive: true, force: true })
}
