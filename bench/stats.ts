/**
 * Statistics over millions of calls: requests over HTTP, compared with ClickHouse's engine and with plain SQL on the
 * same rows, and how much they slow down ingest. The data is made once and used again.
 *
 * npm run bench -- stats [millions ...] [--data DIR] [--bodies N] [--only questions,groups,chdb,sql,hour,acks,ingest] [--keep]
 *
 * --bodies N: every n-th call has bodies of 1 KB (default 1 up to a million calls, 10 above).
 * --keep: keeps the server's directory with all that was built in it, for the next run.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readCount, readCounts } from '../examples/script-arguments.ts'
import { DATABASE_FILE, openReadOnlyDatabase } from '../src/store/sqlite/db/connection.ts'
import {
  type BenchServer,
  median,
  memoryMb,
  resetPeak,
  startServer,
} from './servers/bench-server.ts'
import type { ChdbReply, ChdbRequest } from './stats/chdb.ts'
import { nestReports, PROJECT, provideData, type StatsData } from './stats/data.ts'
import { askUnderIngest, measureAcks, measureIngest } from './stats/ingest.ts'
import {
  GROUPINGS,
  listQuestions,
  type Question,
  toBody,
  toClickHouse,
  toGroupsBody,
  toPlainSql,
} from './stats/questions.ts'
import { waitForSegments } from './stats/segments.ts'
import { findTool } from './tools/find-tool.ts'

const TIMES = 20
/** Warm-up, until the readers' code is compiled. */
const WARM_UPS = 25
const GROUPS_WARM_UPS = 5
const CHDB_WARM_UPS = 5
const PLAIN_TIMES = 2
const MILLION = 1_000_000
const PARTS = ['questions', 'groups', 'chdb', 'sql', 'hour', 'acks', 'ingest'] as const

const { values, positionals } = readArguments({
  allowPositionals: true,
  options: {
    data: { type: 'string', default: join(tmpdir(), 'weft-bench-stats') },
    bodies: { type: 'string' },
    only: { type: 'string', default: PARTS.join() },
    keep: { type: 'boolean', default: false },
  },
})
const parts = new Set(values.only.split(','))

/** Rows of the table that is printed. */
type Row = readonly [name: string, goal: string, measured: string]

/** A write that invalidates every cached answer. */
async function touch(server: BenchServer): Promise<void> {
  const started_at = new Date().toISOString()
  const start = { project_id: PROJECT, op_name: 'touch', started_at, attributes: {}, inputs: {} }
  await server.post('/call/start', { start })
}

/** The times of a request, each after a write. */
async function measureRequest(server: BenchServer, body: unknown, warmUps: number) {
  const taken: number[] = []
  let bytes = 0
  for (let time = -warmUps; time < TIMES; time++) {
    await touch(server)
    const answer = await server.post('/calls/stats', body)
    bytes = answer.bytes
    if (time >= 0) taken.push(answer.ms)
  }
  return { taken, bytes }
}

async function measureQuestion(server: BenchServer, question: Question) {
  const { taken, bytes } = await measureRequest(server, toBody(question), WARM_UPS)
  const again: number[] = []
  for (let time = 0; time < TIMES; time++) {
    again.push((await server.post('/calls/stats', toBody(question))).ms)
  }
  console.error(`${question.name}: ${inMs(median(taken))}`)
  return { ms: median(taken), againMs: median(again), bytes }
}

/** Milliseconds by question, of ClickHouse's engine over the same rows. */
async function askChdb(data: StatsData, questions: readonly Question[]): Promise<number[]> {
  const file = join(data.dataDir, DATABASE_FILE)
  const child = fork(new URL('./stats/chdb.ts', import.meta.url), [file, `${data.dataDir}-chdb`])
  const reply = async () => ((await once(child, 'message')) as [ChdbReply])[0]
  try {
    const loaded = await reply()
    console.error(`chdb has ${loaded.rows} rows after ${(loaded.ms / 1000).toFixed(0)} s`)
    const medians: number[] = []
    for (const question of questions) {
      const request: ChdbRequest = toClickHouse(question)
      const taken: number[] = []
      for (let time = -CHDB_WARM_UPS; time < TIMES; time++) {
        child.send(request)
        const { ms } = await reply()
        if (time >= 0) taken.push(ms)
      }
      medians.push(median(taken))
    }
    return medians
  } finally {
    child.kill('SIGKILL')
  }
}

function runPlainSql(workDir: string, question: Question): number {
  const db = openReadOnlyDatabase(join(workDir, DATABASE_FILE))
  const statements = toPlainSql(question).map((sql) => db.prepare(sql))
  const taken = Array.from({ length: PLAIN_TIMES }, () => {
    const begin = performance.now()
    for (const statement of statements) statement.all()
    return performance.now() - begin
  })
  db.close()
  return median(taken)
}

function sizeMb(path: string): number {
  return existsSync(path) ? statSync(path).size / 1e6 : 0
}

function inMs(ms: number): string {
  if (Number.isNaN(ms)) return 'refused'
  return `${ms < 100 ? ms.toFixed(1) : ms.toFixed(0)} ms`
}

async function measureQuestions(server: BenchServer, data: StatsData): Promise<Row[]> {
  const questions = listQuestions(data.calls)
  const answers: Awaited<ReturnType<typeof measureQuestion>>[] = []
  for (const question of questions) answers.push(await measureQuestion(server, question))
  const chdb =
    parts.has('chdb') && findTool('chdb') !== null ? await askChdb(data, questions) : null
  return questions.flatMap(({ name, goalMs }, index): Row[] => {
    const { ms, againMs, bytes } = answers[index] as (typeof answers)[number]
    const goal = goalMs[data.calls >= 10 * MILLION ? 1 : 0]
    const size = `${(bytes / 1e6).toFixed(2)} MB`
    const row: Row = [name, `${goal} ms`, `${inMs(ms)}; again ${inMs(againMs)}; ${size}`]
    if (chdb === null) return [row]
    const other = chdb[index] as number
    return [row, [`${name}: to chdb`, '0.25', `${(ms / other).toFixed(2)} (${inMs(other)})`]]
  })
}

async function measureGroups(server: BenchServer): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, groupBy] of GROUPINGS) {
    const { taken } = await measureRequest(server, toGroupsBody(groupBy), GROUPS_WARM_UPS)
    const [ms, most] = [median(taken), Math.max(...taken)]
    console.error(`grouped by ${name}: ${inMs(ms)}`)
    rows.push([`grouped by ${name}`, '', `${inMs(ms)}, at most ${inMs(most)}`])
  }
  return rows
}

async function measureWriting(server: BenchServer): Promise<Row[]> {
  const rows: Row[] = []
  if (parts.has('hour')) {
    const ms = median(await askUnderIngest(server, TIMES))
    console.error(`the current hour under full ingest: ${inMs(ms)}`)
    rows.push(['the current hour under full ingest', '100 ms', inMs(ms)])
  }
  if (parts.has('acks')) {
    const { without, withPolls, polls } = await measureAcks(server)
    const ratio = (withPolls / without).toFixed(2)
    console.error(`acks with polls / without: ${ratio}`)
    const detail = `${inMs(withPolls)} to ${inMs(without)}, ${polls} polls`
    rows.push(['ack p99 with 10 polls a second / without', '1.25', `${ratio} (${detail})`])
  }
  if (!parts.has('ingest')) return rows
  const results = await measureIngest(server)
  const rate = (name: string) => results.find((result) => result.name === name)?.perSecond ?? 0
  const ratio = (a: string, b: string) => (rate(a) / rate(b)).toFixed(2)
  for (const { name, perSecond, p50Ms, p99Ms, failed } of results) {
    const measured = `${Math.round(perSecond)}/s, p50 ${inMs(p50Ms)}, p99 ${inMs(p99Ms)}`
    rows.push([`call/start: ${name}`, '', `${measured}${failed > 0 ? `, ${failed} failed` : ''}`])
  }
  const ids = ['random ids', 'UUIDv7']
  for (const id of ids) {
    rows.push([`ingest stored / empty, ${id}`, '0.8', ratio(`stored, ${id}`, `empty, ${id}`)])
  }
  for (const id of ids) {
    const start = ratio(`empty, ${id}`, 'validation only')
    rows.push([`call/start / validation only, ${id}`, '0.7', start])
  }
  return rows
}

/**
 * Starts the server on a copy, so that the original can be used again. A new copy is migrated, and its roots report the
 * usage of their children, as SDKs do.
 */
async function startOnCopy({ dataDir }: StatsData, rows: Row[]): Promise<BenchServer> {
  const workDir = workDirOf(dataDir)
  if (values.keep && existsSync(workDir)) return startServer(workDir)
  rmSync(workDir, { recursive: true, force: true })
  mkdirSync(workDir)
  copyFileSync(join(dataDir, DATABASE_FILE), join(workDir, DATABASE_FILE))
  const migrating = await startServer(workDir)
  await migrating.stop()
  rows.push([
    'start of the server, migration included',
    '',
    `${migrating.startSeconds.toFixed(1)} s`,
  ])
  nestReports(workDir)
  const server = await startServer(workDir)
  const [whole] = listQuestions(1) as [Question]
  // With many millions of calls this may exceed the timeout of reads.
  const first = await server.post('/calls/stats', toBody(whole)).catch(() => ({ ms: Number.NaN }))
  console.error(`first answer after ${inMs(first.ms)}`)
  rows.push(['first answer, before anything is built', '', inMs(first.ms)])
  return server
}

function workDirOf(dataDir: string): string {
  return `${dataDir}.run`
}

async function run(millions: number): Promise<void> {
  const calls = Math.round(millions * MILLION)
  const bodiesEvery = readCount(values.bodies ?? (calls > MILLION ? '10' : '1'))
  const data = provideData(values.data, calls, bodiesEvery)
  const madeMb = sizeMb(join(data.dataDir, DATABASE_FILE))
  const workDir = workDirOf(data.dataDir)
  const file = join(workDir, DATABASE_FILE)
  const rows: Row[] = []
  const server = await startOnCopy(data, rows)
  try {
    const built = await waitForSegments(file)
    console.error(`all segments are built after ${built.toFixed(0)} s`)
    rows.push(['until all segments are built', '', `${built.toFixed(0)} s`])
    resetPeak(server.process.pid)
    if (parts.has('questions')) rows.push(...(await measureQuestions(server, data)))
    if (parts.has('groups')) rows.push(...(await measureGroups(server)))
    if (parts.has('sql')) {
      const [whole] = listQuestions(calls) as [Question]
      rows.push(['plain SQL GROUP BY, 30 d by 1 h', 'baseline', inMs(runPlainSql(workDir, whole))])
    }
    rows.push(...(await measureWriting(server)))
    const { pid } = server.process
    const memory = `${memoryMb(pid, 'VmRSS').toFixed(0)} MB, at most ${memoryMb(pid, 'VmHWM').toFixed(0)} MB`
    rows.push(['memory of the server', '400 MB', memory])
    const perMillion = (mb: number) => `${(mb / millions).toFixed(0)} MB`
    const ofData = `1 of ${bodiesEvery} calls with bodies of 1 KB`
    const disk = `${perMillion(madeMb)}; with the data for statistics ${perMillion(sizeMb(file))}`
    rows.push([`disk per 1M calls, ${ofData}`, '', disk])
  } finally {
    await server.stop()
    if (!values.keep) rmSync(workDir, { recursive: true })
  }
  print(calls, data, rows)
}

function print(calls: number, { seconds }: StatsData, rows: readonly Row[]): void {
  const made = seconds === null ? 'found' : `made in ${seconds.toFixed(0)} s`
  const load = loadavg()[0]?.toFixed(1)
  console.log(
    `\n${calls / MILLION} million calls, ${made}; medians of ${TIMES}; load average ${load}\n`,
  )
  console.log('| case | goal | measured |')
  console.log('|---|---|---|')
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

mkdirSync(values.data, { recursive: true })
const unknown = [...parts].find((part) => !(PARTS as readonly string[]).includes(part))
if (unknown !== undefined) throw new Error(`there is no part ${unknown}`)
console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
const sizes = positionals.length > 0 ? readCounts(positionals) : [1]
for (const millions of sizes) await run(millions)
