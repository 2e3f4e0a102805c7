/**
 * How long lists take among many rows, and how long each holds the event loop:
 *
 *   npm run bench -- lists --rows 200000 --rounds 5
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { buildApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDeps } from '../src/deps.ts'
import { openDatabase } from '../src/store/sqlite/db/connection.ts'
import { migrate } from '../src/store/sqlite/db/migrate.ts'
import { median } from './servers/bench-server.ts'

const { values } = readArguments({
  options: {
    rows: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '5' },
  },
})
const ROWS = readCount(values.rows)
const ROUNDS = readCount(values.rounds)
const KEY = 'wk_bench_of_lists_with_letters'
const project_id = 'acme/demo'
/** Calls of one thread. */
const THREAD_CALLS = 8
const TABLE_ROWS = 100_000
const REFS = 1000
const BATCH = 500

const dataDir = mkdtempSync(join(tmpdir(), 'weft-lists-'))

/** Written straight into the tables, since requests would take long. One row in 20,000 is rare. */
const NUMBERS = `WITH RECURSIVE numbers (n) AS (
  SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS}
)`
const FILL = `
INSERT INTO keys (id, hash, svc_user_id, svc_username, scopes_json, projects_json, created_at_us)
${NUMBERS} SELECT 'key-' || n, randomblob(32), 'u', 'u', '["traces:read"]', '["acme/demo"]', n FROM numbers;
INSERT INTO projects (project_id) ${NUMBERS} SELECT 'many/' || n FROM numbers;
INSERT INTO preview_models (id, entity, project, name, base_model, created_at_us, created_by)
${NUMBERS} SELECT 'model-' || n, 'acme', 'p' || n, iif(n % 20000 = 1, 'rare', 'm'), 'tiny', n, 'u' FROM numbers;
INSERT INTO training_jobs (
  id, model_id, seq, state, payload_path, payload_sha256, payload_bytes, group_count, trajectory_count,
  trainable_count, created_at_us, created_by
)
${NUMBERS} SELECT 'job-' || n, 'model-' || n, 1, iif(n % 20000 = 1, 'failed', 'succeeded'), '', hex(zeroblob(32)),
  2, 1, 1, 1, n, 'u' FROM numbers;
`
const database = openDatabase(dataDir)
migrate(database)
database.exec(`BEGIN; ${FILL} COMMIT`)
database.close()

const config = { ...readConfig({}), dataDir, bootstrapKey: KEY, bodyBytesMax: 2 ** 28 }
const deps = await openDeps(config)
const app = await buildApp(config, deps)

async function send(url: string, body?: object): Promise<Readable> {
  const basic = `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`
  const authorization = url.startsWith('/v1') ? `Bearer ${KEY}` : basic
  const headers = { authorization, 'content-type': 'application/json' }
  const request = { url, headers, payloadAsStream: true } as const
  const response =
    body === undefined
      ? await app.inject(request)
      : await app.inject({ ...request, method: 'POST', payload: JSON.stringify(body) })
  const answer = response.stream()
  if (response.statusCode !== 200) throw new Error(`${url}: ${(await text(answer)).slice(0, 500)}`)
  return answer
}

async function fetchText(url: string, body: object): Promise<string> {
  return text(await send(url, body))
}

/** Counts the bytes of an answer without keeping them, which would be measured as work of the server. */
async function ask(url: string, body?: object): Promise<number> {
  let bytes = 0
  for await (const piece of await send(url, body)) bytes += piece.length
  return bytes
}

async function fillCalls(): Promise<void> {
  const startMs = Date.UTC(2026, 0, 1)
  for (let from = 0; from < ROWS; from += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, index) => {
      const id = `call-${from + index}`
      const thread_id = `thread-${Math.floor((from + index) / THREAD_CALLS)}`
      const [started_at, ended_at] = [0, 1].map((ms) => new Date(startMs + from + index + ms))
      const ids = { project_id, id }
      const start = { ...ids, trace_id: id, thread_id, turn_id: id, started_at }
      return [
        { mode: 'start', req: { start: { ...start, op_name: 'op', attributes: {}, inputs: {} } } },
        { mode: 'end', req: { end: { ...ids, ended_at, output: 1, summary: {} } } },
      ]
    })
    await ask('/call/upsert_batch', { batch: batch.flat() })
  }
}

async function makeQuestions(): Promise<Record<string, () => Promise<number>>> {
  const rows = Array.from({ length: TABLE_ROWS }, (_, n) => ({ n, text: `row ${n}` }))
  const table = JSON.parse(await fetchText('/table/create', { table: { project_id, rows } }))
  const { digest, row_digests } = table
  const at = { project_id, digest }
  const refs = Array.from({ length: REFS }, (_, n) => {
    return `weave:///${project_id}/table/${digest}/attr/rows/id/${row_digests[n * 7]}`
  })
  const sort_by = [{ field: 'n', direction: 'desc' }]
  return {
    'all keys': () => ask('/v1/keys'),
    'jobs of a rare status': () => ask('/v1/preview/training-jobs?status=failed'),
    'models of a rare name': () => ask('/v1/preview/models?name=rare'),
    'projects, as `/me` lists them': () => ask('/me'),
    'threads, newest first': () => ask('/threads/stream_query', { project_id, limit: 50 }),
    'table, first rows': () => ask('/table/query', { ...at, limit: 100 }),
    'table, far rows': () => ask('/table/query', { ...at, limit: 100, offset: TABLE_ROWS - 100 }),
    'table, sorted': () => ask('/table/query', { ...at, limit: 100, sort_by }),
    'table, all rows': () => ask('/table/query', at),
    'values of refs': () => ask('/refs/read_batch', { refs }),
    costs: () => ask('/cost/query', { project_id }),
  }
}

/** The longest time between two turns of a timer of 1 ms while the work runs. */
async function holdOf(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now()
  let longest = 0
  const note = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(note, 1)
  await work()
  await sleep(5)
  clearInterval(timer)
  return longest
}

try {
  await fillCalls()
  console.log(`${ROWS} rows: median ms, longest hold of the event loop in ms, bytes`)
  for (const [name, question] of Object.entries(await makeQuestions())) {
    try {
      const bytes = await question()
      const times: number[] = []
      const holds: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const begin = performance.now()
        const hold = await holdOf(async () => {
          await question()
          times.push(performance.now() - begin)
        })
        holds.push(hold)
      }
      const cells = [median(times), median(holds)].map((ms) => ms.toFixed(0).padStart(6))
      console.log(`${cells.join('')}  ${name}: ${bytes}`)
    } catch (error) {
      console.log(`${name}: ${error}`)
    }
  }
} finally {
  await app.close()
  await deps.close()
  rmSync(dataDir, { recursive: true })
}
