/**
 * How long it takes to expire half of the calls of a project, and how much it slows concurrent writes:
 *
 *   npm run bench -- expiry --calls 1000000
 *
 * One quarter expires on an idle server, the other while calls are being started.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 } from 'uuid'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { resolveCallEnd, resolveCallStart } from '../src/domain/calls/new-call.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'

const { values } = readArguments({ options: { calls: { type: 'string', default: '1000000' } } })
const CALLS = readCount(values.calls)
const BATCH = 500
const TRACE_CALLS = 8
const HOUR_MS = 3_600_000
const BASE_MS = Date.UTC(2026, 0, 1)
const HOURS = 48
/** Writers; each waits for its answer, then pauses briefly. */
const LANES = 8
const LANE_PAUSE_MS = 5
const project_id = 'acme/demo'
const user = { svc_user_id: 'u', svc_username: 'u' }
const inputs = { model: 'm', messages: [{ role: 'user', content: 'What is there? '.repeat(50) }] }
const output = { choices: [{ message: { role: 'assistant', content: 'Much. '.repeat(50) } }] }
const summary = { usage: { m: { requests: 1, prompt_tokens: 200, completion_tokens: 50 } } }

let root = ''

function partsOf(n: number, msecs: number) {
  const id = v7({ msecs })
  const isRoot = n % TRACE_CALLS === 0
  if (isRoot) root = id
  const started_at = new Date(msecs).toISOString()
  const started = { project_id, id, trace_id: root, parent_id: isRoot ? null : root, started_at }
  const request = { ...started, op_name: `op_${n % 10}`, attributes: {}, inputs }
  const start = resolveCallStart(request, { id, trace_id: root, ...user }, 'weave')
  const ended = { project_id, id, ended_at: new Date(msecs + 900).toISOString(), output, summary }
  return { start, end: resolveCallEnd(ended, 'weave') }
}

const dataDir = mkdtempSync(join(tmpdir(), 'weft-expiry-'))
const store = openSqliteStore({ dataDir, ingestQueueMax: 100_000 })
const sizeMb = (name: string) =>
  ((statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0) / 1e6).toFixed(0)

async function fill(): Promise<void> {
  const stepMs = (HOURS * HOUR_MS) / CALLS
  for (let n = 0; n < CALLS; n += BATCH * 4) {
    const batches = Array.from({ length: 4 }, (_, batch) =>
      Array.from({ length: BATCH }, (_, at) => {
        const place = n + batch * BATCH + at
        return partsOf(place, BASE_MS + Math.floor(place * stepMs))
      }),
    )
    await Promise.all(batches.map((parts) => store.calls.writeParts(parts)))
  }
  await store.segments.buildAll()
  // The log is truncated once nothing is written.
  await sleep(6000)
}

/** Starts calls until the work is done. @returns milliseconds of each acknowledgement */
async function startBeside(work: Promise<unknown>): Promise<number[]> {
  let isOver = false
  const tookMs: number[] = []
  const lane = async () => {
    while (!isOver) {
      const { start } = partsOf(tookMs.length, Date.now())
      const beganMs = performance.now()
      await store.calls.startCall(start)
      tookMs.push(performance.now() - beganMs)
      await sleep(LANE_PAUSE_MS)
    }
  }
  const lanes = Array.from({ length: LANES }, lane)
  await work
  isOver = true
  await Promise.all(lanes)
  return tookMs.sort((a, b) => a - b)
}

async function expire(untilHour: number): Promise<string> {
  const expiry = { project_id, before_us: (BASE_MS + untilHour * HOUR_MS) * 1000 }
  const beganMs = performance.now()
  const before = process.cpuUsage()
  const { signal } = new AbortController()
  let calls = 0
  for (let isDone = false; !isDone; ) {
    const step = await store.removal.expireCalls(expiry, signal)
    calls += step.calls
    isDone = step.isDone
  }
  const { user, system } = process.cpuUsage(before)
  const tookS = (performance.now() - beganMs) / 1000
  return `${calls} calls left in ${tookS.toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of CPU`
}

function tell(title: string, tookMs: readonly number[]): void {
  const at = (share: number) => (tookMs[Math.floor(tookMs.length * share)] ?? 0).toFixed(1)
  const [p50, p99, p999] = [at(0.5), at(0.99), at(0.999)]
  const most = tookMs.at(-1)?.toFixed(0)
  console.log(
    `${title}: ${tookMs.length} starts, p50 ${p50} ms, p99 ${p99}, p99.9 ${p999}, max ${most}`,
  )
}

try {
  await fill()
  console.log(`${CALLS} calls: ${sizeMb('weft.db')} MB`)
  console.log(`alone: ${await expire(HOURS / 4)}`)
  await sleep(6000)
  console.log(`a quarter less: ${sizeMb('weft.db')} MB`)
  tell('without', await startBeside(sleep(15_000)))
  const work = expire(HOURS / 2)
  const tookMs = await startBeside(work)
  console.log(`beside starts: ${await work}, log ${sizeMb('weft.db-wal')} MB`)
  tell('beside', tookMs)
  tell('without', await startBeside(sleep(15_000)))
  await sleep(6000)
  console.log(`half less: ${sizeMb('weft.db')} MB`)
} finally {
  await store.close()
  rmSync(dataDir, { recursive: true, force: true })
}
