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
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments, readCount, refuseArguments } from '../examples/script-arguments.ts'
import type { Stores } from '../src/store/api/stores.ts'
import { median, memoryMb } from './servers/bench-server.ts'
import { openClickHouse, openSqlite, type StoreCase } from './servers/store-cases.ts'
import { callOf, idOf, project_id, TRACE_CALLS } from './servers/trace-calls.ts'
import { caller, ingest, list, STATISTICS } from './stats/store-queries.ts'

/** Prints a row of the table: a name, and a value of each case. */
function printRow(name: string, values: readonly (number | string)[]): void {
  console.log(`| ${name} | ${values.join(' | ')} |`)
}

function printLoad(cases: readonly StoreCase[]): void {
  printRow(
    'load average',
    cases.map(() => loadavg()[0]?.toFixed(1) ?? '-'),
  )
}

/** The medians of some rounds, the cases in turns; the first round is not counted. */
async function measure(
  cases: readonly StoreCase[],
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
  printRow(
    `${name}, ms`,
    times.map((of) => median(of).toFixed(1)),
  )
}

async function read(cases: readonly StoreCase[], calls: number): Promise<void> {
  printLoad(cases)
  const some = (round: number) => Math.floor(((round * 0.618) % 1) * calls)
  await measure(cases, 'write of one call', (stores, round) =>
    stores.calls.writeParts([callOf(calls + round, calls)]),
  )
  await measure(cases, 'point read', (stores, round) =>
    stores.calls.findCall(project_id, idOf(some(round))),
  )
  await measure(cases, 'list of a trace', (stores, round) => {
    const root = some(round) - (some(round) % TRACE_CALLS)
    return list({ trace_ids: [idOf(root)] }, TRACE_CALLS)(stores)
  })
  await measure(cases, 'first 100 calls of one op', list({ op_names: ['step_1'] }, 100))
}

async function readStats(cases: readonly StoreCase[]): Promise<void> {
  printLoad(cases)
  for (const [name, query] of Object.entries(STATISTICS)) {
    await measure(cases, name, (stores) => stores.stats.aggregate(query, caller))
  }
}

async function bench(cases: readonly StoreCase[], calls: number): Promise<void> {
  printRow(
    `${calls} calls, medians of ${rounds}`,
    cases.map(({ name }) => name),
  )
  printRow(
    '-',
    cases.map(() => '-'),
  )
  printLoad(cases)
  const rates: string[] = []
  for (const { stores } of cases) {
    const rate = await ingest(stores, { from: 0, end: calls }, (at) => callOf(at, calls))
    rates.push(rate.toFixed(0))
  }
  printRow('ingest, calls/s', rates)
  const built: string[] = []
  for (const { buildAll } of cases) {
    const begun = performance.now()
    await buildAll()
    built.push(((performance.now() - begun) / 1000).toFixed(1))
  }
  printRow('building hours, s', built)
  await read(cases, calls)
  for (const { buildAll } of cases) await buildAll()
  await readStats(cases)
  printRow(
    'memory at most, MiB',
    cases.map(({ pid }) => (pid === undefined ? '-' : memoryMb(pid, 'VmHWM').toFixed(0))),
  )
  const bytes: number[] = []
  for (const { countBytes } of cases) bytes.push(Math.round((await countBytes()) / calls))
  printRow('bytes a call on disk', bytes)
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
const cases: StoreCase[] = []
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
      cases.push(await openClickHouse(folder, `ClickHouse${name}`, dirOf('node'), { given }))
    }
  }
  await bench(cases, calls)
} finally {
  for (const one of cases) await one.close()
  rmSync(root, { recursive: true, force: true })
}
