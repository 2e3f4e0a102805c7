/**
 * Memory of the server at start, after a flood of calls, after statistics and lists, and at rest, by kind. Cases run one
 * after the other, each on a copy of the same database.
 *
 * npm run bench -- memory [--calls 1000000 --seconds 20 --rest 60 --rounds 1 --data DIR --case=NAME=VALUE --case=--flag]
 *
 * --case: settings and flags of Node beside those of `npm start`, separated by commas; `--case=` has none. May stand
 * several times.
 */
import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { DATABASE_FILE } from '../src/store/sqlite/db/connection.ts'
import { type BenchServer, median, memoryMb, startServer } from './servers/bench-server.ts'
import { runLoad } from './servers/load.ts'
import { type MemoryKinds, readMemory } from './servers/memory-map.ts'
import { PROJECT, provideData } from './stats/data.ts'
import { startRequest } from './stats/ingest.ts'
import { listQuestions, type Question, toBody } from './stats/questions.ts'
import { waitForSegments } from './stats/segments.ts'

const CONNECTIONS = 64
/** After the start, and after each flood. */
const SETTLE_MS = 3000
const QUESTION_TIMES = 10
const LIST_TIMES = 5
const LIST_CALLS = 20_000

const { values } = readArguments({
  options: {
    calls: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '20' },
    rest: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '1' },
    data: { type: 'string', default: join(tmpdir(), 'weft-bench-stats') },
    case: { type: 'string', multiple: true, default: [''] },
  },
})
const calls = readCount(values.calls)
const [seconds, restSeconds] = [readCount(values.seconds), readCount(values.rest)]
const roundCount = readCount(values.rounds)
const [MONTH] = listQuestions(calls) as [Question]

interface Look extends MemoryKinds {
  readonly when: string
}

/** The results of one round of a case. */
interface Round {
  readonly name: string
  readonly looks: readonly Look[]
  readonly peakMb: number
  readonly callsPerSecond: number
  readonly statsMs: number
  /** Of the same question, before and after rest. */
  readonly monthMs: number
  readonly afterRestMs: number
}

/** A data directory with all statistics built. It is made once and used again. */
async function provideBuilt(): Promise<string> {
  const { dataDir } = provideData(values.data, calls, 10)
  const built = `${dataDir}.built`
  if (existsSync(built)) return built
  const unfinished = `${built}.unfinished`
  copyDatabase(dataDir, unfinished)
  const server = await startServer(unfinished)
  await waitForSegments(join(unfinished, DATABASE_FILE))
  await server.stop()
  copyDatabase(unfinished, built)
  rmSync(unfinished, { recursive: true })
  return built
}

function copyDatabase(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to)
  copyFileSync(join(from, DATABASE_FILE), join(to, DATABASE_FILE))
}

async function floodCalls({ port }: BenchServer): Promise<number> {
  const { perSecond, failed } = await runLoad({
    port,
    connections: CONNECTIONS,
    durationMs: seconds * 1000,
    request: startRequest(randomUUID),
  })
  if (failed > 0) throw new Error(`${failed} calls were refused`)
  return perSecond
}

/** @returns the median of all questions, milliseconds */
async function floodStats(server: BenchServer): Promise<number> {
  const taken: number[] = []
  for (let time = 0; time < QUESTION_TIMES; time++) {
    for (const question of listQuestions(calls)) {
      taken.push((await server.post('/calls/stats', toBody(question))).ms)
    }
  }
  for (let time = 0; time < LIST_TIMES; time++) {
    await server.post('/calls/stream_query', { project_id: PROJECT, limit: LIST_CALLS })
  }
  return median(taken)
}

async function runRound(name: string, built: string): Promise<Round> {
  const workDir = `${built}.run`
  copyDatabase(built, workDir)
  const words = name.split(',').filter((word) => word !== '')
  const settings = words.filter((word) => !word.startsWith('--')).map((word) => word.split('='))
  const server = await startServer(workDir, {
    environment: Object.fromEntries(settings) as Record<string, string>,
    flags: words.filter((word) => word.startsWith('--')),
  })
  const looks: Look[] = []
  const look = async (when: string, afterMs: number) => {
    await sleep(afterMs)
    looks.push({ when, ...readMemory(server.process.pid as number) })
  }
  try {
    await look('start', SETTLE_MS)
    const callsPerSecond = await floodCalls(server)
    await look('flood of calls', 0)
    const statsMs = await floodStats(server)
    await look('statistics and lists', 0)
    const askMonth = async () => (await server.post('/calls/stats', toBody(MONTH))).ms
    const monthMs = await askMonth()
    await look('rest', restSeconds * 1000)
    const afterRestMs = await askMonth()
    const peakMb = memoryMb(server.process.pid, 'VmHWM')
    return { name, looks, peakMb, callsPerSecond, statsMs, monthMs, afterRestMs }
  } finally {
    await server.stop()
    rmSync(workDir, { recursive: true })
  }
}

/** Shows the kinds of memory of the round with the median RSS. */
function middleLook(rounds: readonly Round[], at: number): Look {
  const looks = rounds.map((round) => round.looks[at] as Look)
  const middle = median(looks.map(({ rss }) => rss))
  return looks.find(({ rss }) => rss === middle) as Look
}

function print(rounds: readonly Round[]): void {
  console.log('\n| case | after | RSS | malloc (arenas) | other | files |')
  console.log('|---|---|---|---|---|---|')
  const mb = (value: number) => value.toFixed(0)
  for (const name of new Set(rounds.map((round) => round.name))) {
    const own = rounds.filter((round) => round.name === name)
    own[0]?.looks.forEach(({ when }, at) => {
      const { rss, malloc, arenas, other, files } = middleLook(own, at)
      const kinds = `${mb(malloc)} (${arenas}) | ${mb(other)} | ${mb(files)}`
      console.log(`| ${name || 'npm start'} | ${when} | ${mb(rss)} | ${kinds} |`)
    })
    const of = (read: (round: Round) => number) => mb(median(own.map(read)))
    const asked = `${of((r) => r.statsMs)} ms a question, a month ${of((r) => r.monthMs)} ms`
    const flood = `peak ${of((r) => r.peakMb)} MB, ${of((r) => r.callsPerSecond)} calls/s`
    console.error(`${name}: ${flood}, ${asked}, after rest ${of((r) => r.afterRestMs)} ms`)
  }
}

console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
mkdirSync(values.data, { recursive: true })
const built = await provideBuilt()
console.log(`${calls} calls; medians of ${values.rounds}, MB; load average ${loadavg()[0]}`)
const rounds: Round[] = []
for (let round = 0; round < roundCount; round++) {
  for (const name of values.case) rounds.push(await runRound(name, built))
}
print(rounds)
