/**
 * Compares both stores of calls: how fast they record the same calls, and how long reads take.
 *
 *   npm run bench -- stores --calls 1000000 --rounds 5
 *   npm run bench -- stores --calls 1000000 --only clickhouse --url http://user:password@host:8123/bench
 *
 * Without --url, ClickHouse's engine runs in a process of its own (npm run tools -- chdb). The database must be empty.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient } from '@clickhouse/client'
import { readArguments, readCount, refuseArguments } from '../examples/script-arguments.ts'
import { resolveCallsSelection, resolveCallsShape } from '../src/domain/calls/calls-query.ts'
import { type CallParts, resolveCallEnd, resolveCallStart } from '../src/domain/calls/new-call.ts'
import { toColumns } from '../src/domain/stats/metric-names.ts'
import type { StatsQuery } from '../src/store/api/stats/stats.ts'
import type { Stores } from '../src/store/api/stores.ts'
import { openClickHouseStores } from '../src/store/clickhouse/open.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'

const FRONT = fileURLToPath(new URL('../test/store/clickhouse/chdb-front.ts', import.meta.url))
const project_id = 'bench/stores'
const FIRST_US = Date.UTC(2026, 2, 1) * 1000
const RANGE_US = 30 * 86_400e6
const HOUR_US = 3600e6
const TRACE_CALLS = 8
const BATCH_CALLS = 1000
const caller = { keyId: 'bench', project_id, signal: new AbortController().signal }

interface Usage {
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

/** A call's own usage by model: one call in three used tokens. */
function usedBy(at: number): Record<string, Usage> {
  if (at % 3 !== 0) return {}
  const used = { requests: 1, prompt_tokens: 100 + (at % 900), completion_tokens: at % 300 }
  return { [`model-${at % 5}`]: used }
}

/** A call's reported usage: a root reports that of its whole trace, as SDKs do. */
function reportOf(at: number): Record<string, Usage> {
  if (at % TRACE_CALLS !== 0) return usedBy(at)
  const sums: Record<string, Usage> = {}
  for (let call = at; call < at + TRACE_CALLS; call++) {
    for (const [model, used] of Object.entries(usedBy(call))) {
      const sum = sums[model] ?? { requests: 0, prompt_tokens: 0, completion_tokens: 0 }
      sums[model] = {
        requests: sum.requests + used.requests,
        prompt_tokens: sum.prompt_tokens + used.prompt_tokens,
        completion_tokens: sum.completion_tokens + used.completion_tokens,
      }
    }
  }
  return sums
}

/** Calls in traces of eight, a root and seven below it; one in fifty failed. */
function callOf(at: number, calls: number): CallParts {
  const us = FIRST_US + Math.floor((at / calls) * RANGE_US)
  const root = at - (at % TRACE_CALLS)
  const ids = { project_id, id: idOf(at) }
  const usage = reportOf(at)
  const summary = Object.keys(usage).length > 0 ? { usage } : {}
  const started = {
    ...ids,
    trace_id: idOf(root),
    parent_id: at === root ? null : idOf(root),
    op_name: `step_${at % 40}`,
    started_at: new Date(us / 1000).toISOString(),
    attributes: {},
    inputs: { text: `question ${at} `.repeat(10) },
  }
  const latencyMs = 20 + ((at * 7919) % 5000)
  const ended = {
    ...ids,
    ended_at: new Date(us / 1000 + latencyMs).toISOString(),
    summary,
    output: { text: `answer ${at} `.repeat(10) },
    exception: at % 50 === 0 ? 'Error' : null,
  }
  const defaults = { id: '', trace_id: '', svc_user_id: 'bench', svc_username: 'bench' }
  return {
    start: resolveCallStart(started, defaults, 'weave'),
    end: resolveCallEnd(ended, 'weave'),
  }
}

function idOf(at: number): string {
  return `01980000-0000-7000-8000-${String(at).padStart(12, '0')}`
}

async function ingest(stores: Stores, calls: number): Promise<void> {
  tellLoad()
  const begun = performance.now()
  let next = 0
  async function send(): Promise<void> {
    while (next < calls) {
      const from = next
      next += BATCH_CALLS
      const count = Math.min(BATCH_CALLS, calls - from)
      const parts = Array.from({ length: count }, (_, at) => callOf(from + at, calls))
      const results = await stores.calls.writeParts(parts)
      if (results.some(({ error }) => error)) throw new Error('a call was refused')
    }
  }
  await Promise.all([send(), send(), send(), send()])
  const seconds = (performance.now() - begun) / 1000
  tell(Math.round(calls / seconds), 'calls/s  ingest')
}

function tell(figure: number | string, what: string): void {
  console.log(`${String(figure).padStart(10)} ${what}`)
}

/** The load average of the last minute, to judge the figures below it. */
function tellLoad(): void {
  tell(loadavg()[0]?.toFixed(1) ?? '-', 'load average')
}

/** The median of some rounds; the first is not counted. */
async function measure(name: string, run: (round: number) => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const begun = performance.now()
    await run(round)
    if (round > 0) times.push(performance.now() - begun)
  }
  const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
  tell(median.toFixed(1), `ms       ${name}`)
}

async function read(stores: Stores, calls: number): Promise<void> {
  tellLoad()
  const some = (round: number) => Math.floor(((round * 0.618) % 1) * calls)
  await measure('write of one call', (round) =>
    stores.calls.writeParts([callOf(calls + round, calls)]),
  )
  await measure('point read', (round) => stores.calls.findCall(project_id, idOf(some(round))))
  await measure('list of a trace', async (round) => {
    const root = some(round) - (some(round) % TRACE_CALLS)
    const selection = resolveCallsSelection({ project_id, filter: { trace_ids: [idOf(root)] } })
    const shape = resolveCallsShape({ project_id })
    for await (const _page of stores.callsQuery.pages(selection, shape, caller));
  })
}

async function readStats(stores: Stores): Promise<void> {
  tellLoad()
  const hours = Array.from({ length: RANGE_US / HOUR_US }, (_, at) => FIRST_US + at * HOUR_US)
  const question = {
    project_id,
    filter: {},
    startUs: FIRST_US,
    endUs: FIRST_US + RANGE_US,
    startsUs: Float64Array.from(hours),
    prices: [],
    valuesMax: 1e6,
    counting: 'own' as const,
    usageColumns: [],
  }
  const columns = (percentiles: number[]) =>
    toColumns([{ metric: 'latency_ms', aggregations: ['avg'], percentiles }])
  const averages = { ...question, callColumns: columns([]) }
  const ranks = { ...question, callColumns: columns([50, 95, 99]) }
  const tokens = {
    ...averages,
    usageColumns: toColumns([{ metric: 'total_tokens', aggregations: ['sum'], percentiles: [] }]),
  }
  const ask = (name: string, query: StatsQuery) =>
    measure(name, () => stores.stats.aggregate(query, caller))
  await ask('averages by hour, 30 days', averages)
  await ask('p50, p95 and p99 by hour', ranks)
  await ask('the same of one op', { ...ranks, filter: { op_names: ['step_1'] } })
  await ask('averages and tokens by hour, each token once', tokens)
  await ask('the same, tokens as reported', { ...tokens, counting: 'reported' })
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
}

async function startFront(): Promise<{ url: string; child: ChildProcess }> {
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' }
  const child = spawn(process.execPath, [FRONT], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = await once(createInterface({ input: child.stdout }), 'line')
  return { url: `http://127.0.0.1:${port}/default`, child }
}

async function benchSqlite(calls: number, dataDir: string): Promise<void> {
  console.log('\nsqlite')
  const store = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  await ingest(store, calls)
  await store.segments.buildAll()
  await read(store, calls)
  await readStats(store)
  await store.close()
  tell(Math.round(bytesIn(dataDir) / calls), 'bytes    a call on disk')
  tellMemory(process.pid)
}

/** Peak memory of a process; empty if the system does not report it. */
function tellMemory(pid: number | undefined): void {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    tell(Math.round(Number(kilobytes) / 1024), 'MiB      of memory at most')
  } catch {
    tell('-', 'of memory is not told here')
  }
}

async function bytesOfParts(url: string): Promise<number> {
  const client = createClient({ url })
  const query = `
SELECT sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND database = currentDatabase()
`
  const found = await (await client.query({ query, format: 'JSONEachRow' })).json<{
    bytes: string
  }>()
  await client.close()
  return Number(found[0]?.bytes)
}

async function benchClickHouse(calls: number, dataDir: string, given?: string): Promise<void> {
  console.log('\nclickhouse')
  const front = given === undefined ? await startFront() : null
  const url = given ?? front?.url ?? ''
  const node = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  const stores = await openClickHouseStores(node, {
    url,
    cluster: null,
    ingestQueueMax: 1000,
    ingestQueueBytesMax: 2 ** 28,
    readsMax: 4,
    readQueueMax: 256,
    readTimeoutMs: 60_000,
    closeMs: 8000,
  })
  await ingest(stores, calls)
  await read(stores, calls)
  await readStats(stores)
  await stores.close()
  tell(Math.round((await bytesOfParts(url)) / calls), 'bytes    a call on disk')
  if (front) tellMemory(front.child.pid)
  front?.child.kill()
}

const { values } = readArguments({
  options: {
    calls: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '20' },
    url: { type: 'string' },
    only: { type: 'string' },
  },
})
const { only } = values
if (only !== undefined && only !== 'sqlite' && only !== 'clickhouse') {
  refuseArguments('--only takes sqlite or clickhouse')
}
const rounds = readCount(values.rounds)
const root = mkdtempSync(join(tmpdir(), 'weft-stores-'))
try {
  const calls = readCount(values.calls)
  console.log(`${calls} calls, medians of ${rounds}`)
  if (only !== 'clickhouse') await benchSqlite(calls, join(root, 'sqlite'))
  if (only !== 'sqlite') await benchClickHouse(calls, join(root, 'node'), values.url)
} finally {
  rmSync(root, { recursive: true, force: true })
}
