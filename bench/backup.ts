/**
 * A backup while the server records calls: how much it slows acknowledgements, and how large the log grows. Compares
 * `npm run backup` with SQLite's other ways to copy a database.
 *
 * npm run bench -- backup [--calls 1000000] [--data DIR] [--rounds 3]
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { DATABASE_FILE } from '../src/store/sqlite/db/connection.ts'
import { type BenchServer, median, startServer } from './servers/bench-server.ts'
import { type LoadResult, runLoad } from './servers/load.ts'
import { provideData } from './stats/data.ts'
import { startRequest } from './stats/ingest.ts'

const CONNECTIONS = 64
/** Load is measured second by second while the copy runs, and then for as long without one. */
const SLICE_MS = 1000
const WITHOUT_MS = 8000
const REST_MS = 8000
const WAYS = ['no backup', 'npm run backup', 'vacuum', 'one step'] as const

const { values } = readArguments({
  options: {
    calls: { type: 'string', default: '1000000' },
    data: { type: 'string', default: join(tmpdir(), 'weft-bench-stats') },
    rounds: { type: 'string', default: '3' },
  },
})

interface Measured {
  readonly seconds: number
  readonly perSecond: number
  readonly slowestPerSecond: number
  readonly worstP99Ms: number
  readonly failed: number
  readonly logMb: number
}

async function copy(way: (typeof WAYS)[number], dataDir: string, target: string): Promise<void> {
  if (way === 'no backup') return void (await new Promise((done) => setTimeout(done, WITHOUT_MS)))
  const entry = way === 'npm run backup' ? '../src/backup.ts' : './peers/backup-foreign.ts'
  const args =
    way === 'npm run backup' ? ['--to', target] : [way, join(dataDir, DATABASE_FILE), target]
  const file = fileURLToPath(new URL(entry, import.meta.url))
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, WEFT_DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${way} ended with ${code}`)
}

async function measure(
  way: (typeof WAYS)[number],
  { port }: BenchServer,
  directory: string,
): Promise<Measured> {
  const dataDir = join(directory, 'data')
  const target = join(directory, 'copy')
  let logBytes = 0
  const watch = setInterval(() => {
    const log = statSync(join(dataDir, `${DATABASE_FILE}-wal`), { throwIfNoEntry: false })
    logBytes = Math.max(logBytes, log?.size ?? 0)
  }, 50)
  const begin = performance.now()
  let seconds: number | null = null
  const copied = copy(way, dataDir, target).then(() => {
    seconds = (performance.now() - begin) / 1000
  })
  const slices: LoadResult[] = []
  while (seconds === null) {
    const request = startRequest(randomUUID)
    slices.push(await runLoad({ port, connections: CONNECTIONS, durationMs: SLICE_MS, request }))
  }
  await copied
  clearInterval(watch)
  rmSync(target, { recursive: true, force: true })
  return {
    seconds,
    perSecond: median(slices.map(({ perSecond }) => perSecond)),
    slowestPerSecond: Math.min(...slices.map(({ perSecond }) => perSecond)),
    worstP99Ms: Math.max(...slices.map(({ p99Ms }) => p99Ms)),
    failed: slices.reduce((sum, { failed }) => sum + failed, 0),
    logMb: logBytes / 1e6,
  }
}

function tell(way: string, runs: readonly Measured[]): void {
  const of = (field: keyof Measured) => median(runs.map((run) => run[field]))
  const cells = [
    ...[way, of('seconds').toFixed(1), of('perSecond').toFixed(0)],
    ...[of('slowestPerSecond').toFixed(0), of('worstP99Ms').toFixed(0)],
    ...[of('failed').toFixed(0), of('logMb').toFixed(0)],
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

const [calls, rounds] = [readCount(values.calls), readCount(values.rounds)]
const { dataDir } = provideData(values.data, calls, 1)
const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
cpSync(dataDir, join(directory, 'data'), { recursive: true })
const server = await startServer(join(directory, 'data'))
try {
  const runs = new Map<string, Measured[]>(WAYS.map((way) => [way, []]))
  for (let round = 0; round < rounds; round++) {
    for (const way of WAYS) {
      await new Promise((resolve) => setTimeout(resolve, REST_MS))
      const measured = await measure(way, server, directory)
      console.error(way, JSON.stringify(measured))
      runs.get(way)?.push(measured)
    }
  }
  console.log('| way | s | calls/s | slowest second, calls/s | worst p99 ms | failed | log MB |')
  console.log('|---|---|---|---|---|---|---|')
  for (const [way, measured] of runs) tell(way, measured)
} finally {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
}
