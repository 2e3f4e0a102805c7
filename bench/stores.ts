/**
 * Compares both stores of calls: how fast they record the same calls, and how long reads take.
 *
 *   npm run bench -- stores --calls 1000000 --rounds 5
 *   npm run bench -- stores --calls 1000000 --only clickhouse --url http://user:password@host:8123/bench
 *   npm run bench -- stores --calls 1000000 --only clickhouse --against DIR
 *
 * Without --url, ClickHouse's engine runs in a process of its own (npm run tools -- chdb). The database must be empty.
 * --against measures the stores of another checkout in turns with these, each with an engine of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient } from '@clickhouse/client'
import { readArguments, readCount, refuseArguments } from '../examples/script-arguments.ts'
import { resolveCallsSelection, resolveCallsShape } from '../src/domain/calls/calls-query.ts'
import { toColumns } from '../src/domain/stats/metric-names.ts'
import type { CallsFilter } from '../src/schemas/calls/calls-filter.ts'
import type { StatsQuery } from '../src/store/api/stats/stats.ts'
import type { Stores } from '../src/store/api/stores.ts'
import { peakMemory } from './servers/peak-memory.ts'
import { callOf, FIRST_US, idOf, project_id, RANGE_US, TRACE_CALLS } from './servers/trace-calls.ts'

const FRONT = fileURLToPath(new URL('../test/store/clickhouse/chdb-front.ts', import.meta.url))
const [HOUR_US, BATCH_CALLS] = [3600e6, 1000]
const caller = { keyId: 'bench', project_id, signal: new AbortController().signal }

/** A store with the calls, of this checkout or of another. */
interface Case {
  readonly name: string
  readonly stores: Stores
  /** Brings what is built in the background up to date. */
  buildAll(): Promise<unknown>
  /** Bytes on disk. */
  countBytes(): Promise<number>
  /** The process of the engine; undefined for one elsewhere. */
  readonly pid: number | undefined
  close(): Promise<void>
}

async function ingest(stores: Stores, calls: number): Promise<number> {
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
  return calls / ((performance.now() - begun) / 1000)
}

/** A row of the table: what was measured, and its figure for each case. */
function tell(what: string, figures: readonly (number | string)[]): void {
  console.log(`| ${what} | ${figures.join(' | ')} |`)
}

function tellLoad(cases: readonly Case[]): void {
  tell(
    'load average',
    cases.map(() => loadavg()[0]?.toFixed(1) ?? '-'),
  )
}

/** The medians of some rounds, the cases in turns; the first round is not counted. */
async function measure(
  cases: readonly Case[],
  name: string,
  run: (stores: Stores, round: number) => Promise<unknown>,
): Promise<void> {
  const times: number[][] = cases.map(() => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [at, { stores }] of cases.entries()) {
      const begun = performance.now()
      await run(stores, round)
      if (round > 0) times[at]?.push(performance.now() - begun)
    }
  }
  const median = (of: number[]) => of.sort((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0
  tell(
    `${name}, ms`,
    times.map((of) => median(of).toFixed(1)),
  )
}

async function read(cases: readonly Case[], calls: number): Promise<void> {
  tellLoad(cases)
  const some = (round: number) => Math.floor(((round * 0.618) % 1) * calls)
  await measure(cases, 'write of one call', (stores, round) =>
    stores.calls.writeParts([callOf(calls + round, calls)]),
  )
  await measure(cases, 'point read', (stores, round) =>
    stores.calls.findCall(project_id, idOf(some(round))),
  )
  const list = (filter: CallsFilter, limit: number) => async (stores: Stores) => {
    const selection = resolveCallsSelection({ project_id, filter, limit })
    const shape = resolveCallsShape({ project_id })
    for await (const _page of stores.callsQuery.pages(selection, shape, caller));
  }
  await measure(cases, 'list of a trace', (stores, round) => {
    const root = some(round) - (some(round) % TRACE_CALLS)
    return list({ trace_ids: [idOf(root)] }, TRACE_CALLS)(stores)
  })
  await measure(cases, 'first 100 calls of one op', list({ op_names: ['step_1'] }, 100))
}

async function readStats(cases: readonly Case[]): Promise<void> {
  tellLoad(cases)
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
  const ofOp = { filter: { op_names: ['step_1'] } }
  const daysUs = hours.filter((_, at) => at % 24 === 0)
  const ask = (name: string, query: StatsQuery) =>
    measure(cases, name, (stores) => stores.stats.aggregate(query, caller))
  await ask('averages by hour, 30 days', averages)
  await ask('the same of one op', { ...averages, ...ofOp })
  await ask('p50, p95 and p99 by hour', ranks)
  await ask('the same of one op', { ...ranks, ...ofOp })
  await ask('the same by day', { ...ranks, startsUs: Float64Array.from(daysUs) })
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

/** The functions of a checkout that open stores. */
async function importStores(checkout: string) {
  const { openSqliteStore } = (await import(
    join(checkout, 'src/store/sqlite/open.ts')
  )) as typeof import('../src/store/sqlite/open.ts')
  const { openClickHouseStores } = (await import(
    join(checkout, 'src/store/clickhouse/open.ts')
  )) as typeof import('../src/store/clickhouse/open.ts')
  return { openSqliteStore, openClickHouseStores }
}

async function openSqlite(checkout: string, name: string, dataDir: string): Promise<Case> {
  const { openSqliteStore } = await importStores(checkout)
  const store = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  return {
    name,
    stores: store,
    buildAll: () => store.segments.buildAll(),
    countBytes: async () => bytesIn(dataDir),
    pid: process.pid,
    close: () => store.close(),
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

async function openClickHouse(checkout: string, name: string, dataDir: string, given?: string) {
  const { openSqliteStore, openClickHouseStores } = await importStores(checkout)
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
  return {
    name,
    stores,
    // Another checkout may not build hours.
    buildAll: async () => stores.hours?.buildAll(),
    countBytes: () => bytesOfParts(url),
    pid: front?.child.pid,
    async close() {
      await stores.close()
      front?.child.kill()
    },
  }
}

async function bench(cases: readonly Case[], calls: number): Promise<void> {
  tell(
    `${calls} calls, medians of ${rounds}`,
    cases.map(({ name }) => name),
  )
  tell(
    '-',
    cases.map(() => '-'),
  )
  tellLoad(cases)
  const rates: string[] = []
  for (const { stores } of cases) rates.push((await ingest(stores, calls)).toFixed(0))
  tell('ingest, calls/s', rates)
  const built: string[] = []
  for (const { buildAll } of cases) {
    const begun = performance.now()
    await buildAll()
    built.push(((performance.now() - begun) / 1000).toFixed(1))
  }
  tell('building hours, s', built)
  await read(cases, calls)
  for (const { buildAll } of cases) await buildAll()
  await readStats(cases)
  tell(
    'memory at most, MiB',
    cases.map(({ pid }) => peakMemory(pid)),
  )
  const bytes: number[] = []
  for (const { countBytes } of cases) bytes.push(Math.round((await countBytes()) / calls))
  tell('bytes a call on disk', bytes)
}

const { values } = readArguments({
  options: {
    calls: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '20' },
    url: { type: 'string' },
    only: { type: 'string' },
    against: { type: 'string' },
  },
})
const { only, url, against } = values
if (only !== undefined && only !== 'sqlite' && only !== 'clickhouse') {
  refuseArguments('--only takes sqlite or clickhouse')
}
const rounds = readCount(values.rounds)
const root = mkdtempSync(join(tmpdir(), 'weft-stores-'))
const cases: Case[] = []
try {
  const calls = readCount(values.calls)
  const checkouts = [
    { name: '', folder: fileURLToPath(new URL('..', import.meta.url)), url },
    ...(against === undefined
      ? []
      : [{ name: ' before', folder: resolve(against), url: undefined }]),
  ]
  for (const { name, folder, url: given } of checkouts) {
    const dirOf = (store: string) => join(root, `${store}${name}`)
    if (only !== 'clickhouse')
      cases.push(await openSqlite(folder, `SQLite${name}`, dirOf('sqlite')))
    if (only !== 'sqlite') {
      cases.push(await openClickHouse(folder, `ClickHouse${name}`, dirOf('node'), given))
    }
  }
  await bench(cases, calls)
} finally {
  for (const one of cases) await one.close()
  rmSync(root, { recursive: true, force: true })
}
