/**
 * How a store grows with the number of its calls: each size in a database of its own, filled by statements.
 *
 *   npm run bench -- growth 1 10 100 --store clickhouse
 *   npm run bench -- growth 1 10 30 --store sqlite --keep DIR
 *   npm run bench -- growth --check --store sqlite
 *
 * Sizes are millions of narrow calls over 30 days. The folder is one of TMPDIR: 100 millions take 13 GB in ClickHouse, 30
 * take 15 GB in SQLite. --keep leaves SQLite's data in DIR/<millions>, where the next run finds it. --check compares 60,000
 * filled calls with written ones.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments, readCounts, refuseArguments } from '../examples/script-arguments.ts'
import type { Stores } from '../src/store/api/stores.ts'
import { cpuMs, median, memoryMb, resetPeak, startServer } from './servers/bench-server.ts'
import { openClickHouse, openSqlite, type StoreCase } from './servers/store-cases.ts'
import {
  callOf,
  idOf,
  PERIOD_CALLS,
  project_id,
  TRACE_CALLS,
  userOf,
} from './servers/trace-calls.ts'
import { compareWithWrites } from './stats/compare-fill.ts'
import { fillClickHouse, fillSqlite } from './stats/fill.ts'
import { caller, groupedBy, ingest, list, STATISTICS } from './stats/store-queries.ts'

const MILLION = 1_000_000
const CHECKOUT = fileURLToPath(new URL('..', import.meta.url))
const CHECKED_CALLS = 60_000
const ROUNDS = 3
const ONCE_MS = 10_000
const NEW_CALLS = 10_000
/** Queries that run once before hours are built. */
const FROM_ROWS = [
  'averages by hour, 30 days',
  'p50, p95 and p99 by hour',
  'averages and tokens by hour, each token once',
] as const

type Run = (stores: Stores, round: number) => Promise<unknown>
/** Metrics of one size by name, in the order of the table. */
type Column = Map<string, string>

/** Milliseconds of the processor, of this process and the engine, and of the clock. */
async function time(store: StoreCase, run: () => Promise<unknown>) {
  const engine = () => (store.url === null ? 0 : cpuMs(store.pid))
  const ofProcess = () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000
  const [before, begun] = [ofProcess() + engine(), performance.now()]
  await run()
  return { cpuMs: ofProcess() + engine() - before, ms: performance.now() - begun }
}

function render({ cpuMs, ms }: { readonly cpuMs: number; readonly ms: number }): string {
  const digits = (value: number) => value.toFixed(value < 10 ? 1 : 0)
  return `${digits(cpuMs)} / ${digits(ms)}`
}

function inSeconds({ cpuMs, ms }: { readonly cpuMs: number; readonly ms: number }): string {
  return `${(cpuMs / 1000).toFixed(1)} / ${(ms / 1000).toFixed(1)}`
}

/** The medians of some rounds after a first one that is not counted; of a slow one that first one alone. */
async function measure(store: StoreCase, column: Column, name: string, run: Run): Promise<void> {
  const times: Awaited<ReturnType<typeof time>>[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const taken = await time(store, () => run(store.stores, round)).catch(refusal)
    if (typeof taken === 'string') return put(column, name, taken)
    const isSlow = round === 0 && taken.ms > ONCE_MS
    if (round > 0 || isSlow) times.push(taken)
    if (isSlow) break
  }
  const of = (field: 'cpuMs' | 'ms') => median(times.map((one) => one[field]))
  put(column, name, render({ cpuMs: of('cpuMs'), ms: of('ms') }))
}

function put(column: Column, name: string, value: string): void {
  column.set(name, value)
  console.error(`${new Date().toISOString().slice(11, 19)} ${name}: ${value}`)
}

function putLoad(column: Column, when: string): void {
  put(column, `load average ${when}`, loadavg()[0]?.toFixed(1) ?? '-')
}

async function open(dataDir: string): Promise<StoreCase> {
  return values.store === 'sqlite'
    ? openSqlite(CHECKOUT, 'SQLite', dataDir)
    : openClickHouse(CHECKOUT, 'ClickHouse', dataDir, { buildsHours: false })
}

/** Returns a store with so many calls whose hours are not built. A directory of SQLite gets its name when it is full. */
async function fill(dataDir: string, calls: number): Promise<StoreCase> {
  const filling = values.store === 'sqlite' ? `${dataDir}.part` : dataDir
  rmSync(filling, { recursive: true, force: true })
  const store = await open(filling)
  const period = { from: 0, end: Math.min(PERIOD_CALLS, calls), atOnce: 1 }
  await ingest(store.stores, period, (at) => callOf(at, calls, true))
  if (store.url !== null) {
    await fillClickHouse(store.url, calls)
    return store
  }
  await store.close()
  fillSqlite(filling, calls)
  renameSync(filling, dataDir)
  return open(dataDir)
}

async function queryStatistics(store: StoreCase, column: Column): Promise<void> {
  for (const [name, query] of Object.entries(STATISTICS)) {
    await measure(store, column, name, (stores) => stores.stats.aggregate(query, caller))
  }
  for (const field of ['op_name', 'end_user_id', 'model'] as const) {
    const query = groupedBy(field)
    await measure(store, column, `groups by ${field}, with tokens`, (stores) =>
      stores.stats.group(query, caller),
    )
  }
}

async function readCalls(store: StoreCase, column: Column, calls: number): Promise<void> {
  const some = (round: number) => Math.floor(((round * 0.618) % 1) * calls)
  const rootOf = (at: number) => idOf(at - (at % TRACE_CALLS))
  const lists: Readonly<Record<string, Run>> = {
    'point read': (stores, round) => stores.calls.findCall(project_id, idOf(some(round))),
    'list of a trace': (stores, round) =>
      list({ trace_ids: [rootOf(some(round))] }, TRACE_CALLS)(stores),
    'the 100 newest calls': list({}, 100, 'started_at'),
    'those of one op': list({ op_names: ['step_1'] }, 100, 'started_at'),
    'those of one end user': list({ end_user_ids: [userOf(1)] }, 100, 'started_at'),
    'the 100 slowest calls': list({}, 100, 'summary.weave.latency_ms'),
  }
  for (const [name, run] of Object.entries(lists)) await measure(store, column, name, run)
}

async function write(store: StoreCase, column: Column, calls: number): Promise<void> {
  await measure(store, column, 'write of one call', (stores, round) =>
    stores.calls.writeParts([callOf(calls + round, calls, true)]),
  )
  const more = { from: calls + TRACE_CALLS, end: calls + TRACE_CALLS + NEW_CALLS }
  const taken = await time(store, () => ingest(store.stores, more, (at) => callOf(at, calls, true)))
  put(column, `${NEW_CALLS} more calls in batches of 1,000`, render(taken))
}

/** @param isFound - whether the store was filled by an earlier run, which has built its hours */
async function measureSize(
  store: StoreCase,
  calls: number,
  column: Column,
  isFound: boolean,
): Promise<void> {
  resetPeaks(store)
  putLoad(column, 'before queries')
  for (const name of isFound ? [] : FROM_ROWS) {
    const query = () => store.stores.stats.aggregate(STATISTICS[name], caller)
    put(column, `${name}, from rows`, await time(store, query).then(render, refusal))
  }
  putPeaks(store, column, 'from rows')
  put(column, 'building hours, s', inSeconds(await time(store, store.buildAll)))
  putPeaks(store, column, 'after building hours')
  putLoad(column, 'after building hours')
  await queryStatistics(store, column)
  putPeaks(store, column, 'after statistics')
  await readCalls(store, column, calls)
  await write(store, column, calls)
  putPeaks(store, column, 'at the end')
  putLoad(column, 'at the end')
}

function refusal(error: unknown): string {
  return `refused: ${(error as Error).message.slice(0, 60)}`
}

function resetPeaks(store: StoreCase): void {
  for (const pid of new Set([process.pid, store.pid])) resetPeak(pid)
}

/** The largest memory since the last time. */
function putPeaks(store: StoreCase, column: Column, when: string): void {
  const peak = (pid: number | undefined) => memoryMb(pid, 'VmHWM').toFixed(0)
  const engine = store.url === null ? '' : ` and engine ${peak(store.pid)}`
  put(column, `peak ${when}, MB`, `${peak(process.pid)}${engine}`)
  resetPeaks(store)
}

async function run(millions: number): Promise<Column> {
  const calls = Math.round(millions * MILLION)
  const column: Column = new Map([['millions of calls', String(millions)]])
  const dataDir = join(values.keep ?? root, String(millions))
  putLoad(column, 'before the fill')
  const begun = performance.now()
  const isFound = existsSync(dataDir)
  const store = await (isFound ? open(dataDir) : fill(dataDir, calls))
  try {
    put(column, 'fill, s', ((performance.now() - begun) / 1000).toFixed(0))
    put(column, 'bytes a call', ((await store.countBytes()) / calls).toFixed(0))
    await measureSize(store, calls, column, isFound)
    put(column, 'bytes a call at the end', ((await store.countBytes()) / calls).toFixed(0))
  } finally {
    await store.close()
  }
  if (values.store === 'sqlite') {
    const server = await startServer(dataDir)
    put(column, 'start of the server, s', server.startSeconds.toFixed(2))
    put(column, 'RSS after the start, MB', memoryMb(server.process.pid, 'VmRSS').toFixed(0))
    await server.stop()
  }
  if (values.keep === undefined) rmSync(dataDir, { recursive: true })
  return column
}

async function check(filledDir: string, writtenDir: string): Promise<void> {
  const written = await open(writtenDir)
  const all = { from: 0, end: CHECKED_CALLS, atOnce: 1 }
  await ingest(written.stores, all, (at) => callOf(at, CHECKED_CALLS, true))
  const filled = await fill(filledDir, CHECKED_CALLS)
  try {
    await compareWithWrites(
      { store: filled, dataDir: filledDir },
      { store: written, dataDir: writtenDir },
    )
  } finally {
    await filled.close()
    await written.close()
  }
}

function print(columns: readonly Column[]): void {
  const [first] = columns
  console.log()
  for (const name of first?.keys() ?? []) {
    console.log(`| ${[name, ...columns.map((column) => column.get(name))].join(' | ')} |`)
  }
}

const { values, positionals } = readArguments({
  allowPositionals: true,
  options: {
    store: { type: 'string', default: 'clickhouse' },
    keep: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
})
if (values.store !== 'sqlite' && values.store !== 'clickhouse') {
  refuseArguments('--store takes sqlite or clickhouse')
}
if (values.keep !== undefined && values.store !== 'sqlite') {
  refuseArguments('--keep takes --store sqlite: the data of ClickHouse ends with its engine')
}
if (values.keep !== undefined) mkdirSync(values.keep, { recursive: true })
const root = mkdtempSync(join(tmpdir(), 'weft-growth-'))
try {
  if (values.check) {
    await check(join(root, 'filled'), join(root, 'written'))
  }
  const columns: Column[] = []
  for (const millions of readCounts(positionals)) {
    columns.push(await run(millions))
    print(columns)
  }
} finally {
  rmSync(root, { recursive: true, force: true })
}
