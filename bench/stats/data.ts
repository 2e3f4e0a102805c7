/**
 * Databases for bench/stats.ts: calls of one project over 30 days, made by a seeded generator inside of
 * SQLite. A finished database is kept and used again.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Connection, openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate, readMigrations } from '../../src/store/sqlite/db/migrate.ts'

export const PROJECT = 'bench/stats'
export const DAYS = 30
/** In March the clocks of New York change. */
export const FIRST_US = Date.UTC(2026, 2, 1) * 1000
export const DAY_US = 86_400e6
const MODELS = [
  'gpt-4o',
  'gpt-4o-mini',
  'claude-3-5-sonnet-20241022',
  'claude-3-5-haiku-20241022',
  'gemini-2.5-pro',
  'a-model-without-price',
] as const

/** Calls are written in the schema of these migrations; the server applies the later ones when it starts. */
const MIGRATIONS = 7
/** Calls per transaction. */
const SLICE = 500_000
const SEED = 20_260_301

export interface StatsData {
  readonly dataDir: string
  readonly calls: number
  /** Seconds that it took to make; null if it existed. */
  readonly seconds: number | null
}

/**
 * Returns a data directory with that many calls; makes it if it is missing.
 *
 * @param root - folder of the data directories
 * @param bodiesEvery - every n-th call has bodies of 1 KB, the others next to nothing
 */
export function provideData(root: string, calls: number, bodiesEvery: number): StatsData {
  const dataDir = join(root, `calls-${calls}-bodies-${bodiesEvery}`)
  if (existsSync(dataDir)) return { dataDir, calls, seconds: null }
  const unfinished = `${dataDir}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  const begin = performance.now()
  fill(unfinished, calls, bodiesEvery)
  renameSync(unfinished, dataDir)
  return { dataDir, calls, seconds: (performance.now() - begin) / 1000 }
}

function fill(dataDir: string, calls: number, bodiesEvery: number): void {
  const db = openDatabase(dataDir)
  try {
    migrateTo(db, MIGRATIONS)
    // A crash loses nothing that cannot be made again.
    db.pragma('journal_mode = DELETE')
    db.pragma('journal_mode = OFF')
    db.pragma('synchronous = OFF')
    db.pragma('cache_size = -262144')
    const indexes = db.prepare(SELECT_INDEXES).all() as { name: string; sql: string }[]
    for (const { name } of indexes) db.exec(`DROP INDEX ${name}`)
    db.exec(CREATE_DRAFT)
    let state: State = { n: -1, x: SEED, y: SEED + 1, root: '' }
    for (let first = 0; first < calls; first += SLICE) {
      state = fillSlice(db, state, Math.min(first + SLICE, calls) - 1, { calls, bodiesEvery })
    }
    db.exec('DROP TABLE draft')
    for (const { sql } of indexes) db.exec(sql)
    db.pragma('journal_mode = WAL')
  } finally {
    db.close()
  }
}

interface State {
  readonly n: number
  readonly x: number
  readonly y: number
  readonly root: string
}

/** Writes calls from the generator's state up to a number. @returns the state after the last one */
function fillSlice(
  db: Connection,
  state: State,
  last: number,
  { calls, bodiesEvery }: { readonly calls: number; readonly bodiesEvery: number },
): State {
  const step_us = Math.floor((DAYS * DAY_US) / calls)
  db.prepare('DELETE FROM draft').run()
  db.prepare(DRAW).run({ ...state, last })
  db.prepare(INSERT_CALLS).run({
    project_id: PROJECT,
    first_us: FIRST_US,
    step_us,
    every: bodiesEvery,
  })
  db.prepare(INSERT_BODIES).run({ every: bodiesEvery, text: buildText() })
  db.prepare(INSERT_USAGE).run({ models: JSON.stringify(MODELS) })
  return db.prepare('SELECT n, x, y, root FROM draft WHERE n = ?').get(last) as State
}

/**
 * Adds the usage of children to that of their roots, as SDKs do, in a migrated directory: some calls of each hour then
 * report more than they used themselves. Calls get one of 5,000 end users. All hours are rebuilt.
 */
export function nestReports(dataDir: string): void {
  const db = openDatabase(dataDir)
  try {
    db.exec(NEST_REPORTS)
    db.exec(NAME_USERS)
    db.exec(SPOIL_HOURS)
  } finally {
    db.close()
  }
}

/** Applies only the first migrations. */
export function migrateTo(db: Connection, count: number): void {
  const directory = mkdtempSync(join(tmpdir(), 'weft-migrations-'))
  const source = fileURLToPath(new URL('../../migrations/sqlite/', import.meta.url))
  mkdirSync(directory, { recursive: true })
  for (const { name } of readMigrations().slice(0, count)) {
    cpSync(join(source, name), join(directory, name))
  }
  migrate(db, directory)
  rmSync(directory, { recursive: true })
}

/** Random words, as varied as prose. Bodies are slices of it. */
function buildText(): string {
  const words =
    'the model answered a question about rivers and named three of them in order of length with a short reason for each'
  const list = words.split(' ')
  let x = SEED
  return Array.from({ length: 4000 }, () => {
    x = (x * 48_271) % 2_147_483_647
    return x % 7 === 0 ? String(x % 9973) : list[x % list.length]
  }).join(' ')
}

const NAME_USERS = `
UPDATE calls SET end_user_id = 'user-' || (call_key * 7919 % 5000)`

const SELECT_INDEXES = `
SELECT name, sql FROM sqlite_master
WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('calls', 'call_usage', 'call_bodies')`

/** x and y are draws of two Lehmer generators, 1..2^31-2; root is the id of the trace's first call. */
const CREATE_DRAFT = `
CREATE TEMP TABLE draft (n INTEGER PRIMARY KEY, x INTEGER, y INTEGER, id TEXT, root TEXT)`

const DRAW = `
WITH RECURSIVE drawn (n, x, y, id, root) AS (
  SELECT @n, @x, @y, '', @root
  UNION ALL
  SELECT
    n + 1,
    x * 48271 % 2147483647,
    y * 69621 % 2147483647,
    printf('%08x-%08x-%08x', x * 48271 % 2147483647, y * 69621 % 2147483647, n + 1),
    CASE (n + 1) % 8
      WHEN 0 THEN printf('%08x-%08x-%08x', x * 48271 % 2147483647, y * 69621 % 2147483647, n + 1)
      ELSE root
    END
  FROM drawn
  WHERE n < @last
)
INSERT INTO draft SELECT * FROM drawn WHERE id <> ''`

/** Traces of 8 calls, threads of 20 traces, 20 ops of falling share, 5 % errors, 0.5 % open calls. */
const INSERT_CALLS = `
INSERT INTO calls (
  call_key, project_id, id, trace_id, parent_id, thread_id, turn_id, op_name,
  started_at_us, ended_at_us, exception, svc_user_id, svc_username, svc_run_id, storage_size_bytes
)
SELECT
  n + 1,
  @project_id,
  id,
  printf('t-%s', root),
  CASE n % 8 WHEN 0 THEN NULL ELSE root END,
  printf('thread-%d', n / 160),
  printf('turn-%d', n / 8),
  printf('op-%d', (x % 20) * (y % 21) / 20),
  @first_us + n * @step_us + y % @step_us,
  CASE WHEN x % 200 = 1 THEN NULL ELSE
    @first_us + n * @step_us + y % @step_us
    + CAST(exp(13 + 1.4 * (x / 1000 % 1000 + y / 1000 % 1000 + x / 1000000 % 1000 - 1500) / 500.0)
        AS INTEGER)
  END,
  CASE x % 20 WHEN 0 THEN 'ValueError: bench' END,
  printf('user-%d', y % 50),
  'bench',
  CASE x % 4 WHEN 0 THEN printf('run-%d', y % 100) END,
  CASE n % @every WHEN 0 THEN 1024 ELSE 8 END
FROM draft`

const INSERT_BODIES = `
INSERT INTO call_bodies (call_key, attributes_json, inputs_json, output_json, summary_json)
SELECT
  n + 1,
  '{}',
  CASE n % @every WHEN 0
    THEN printf('{"prompt":"%s"}', substr(@text, 1 + x % 16000, 496)) ELSE '{}' END,
  CASE n % @every WHEN 0
    THEN printf('{"text":"%s"}', substr(@text, 1 + y % 16000, 496)) ELSE '{}' END,
  '{}'
FROM draft`

/** Every second call used one model; a quarter of them had a cache. */
const INSERT_USAGE = `
INSERT INTO call_usage (
  call_key, model, input_tokens, uncached_input_tokens, output_tokens, total_tokens,
  cache_read_input_tokens, cache_creation_input_tokens
)
SELECT
  n + 1,
  json_extract(@models, printf('$[%d]', y % 6)),
  x % 4000,
  x % 4000 - CASE y % 4 WHEN 0 THEN x % 4000 / 2 ELSE 0 END,
  y % 800,
  x % 4000 + y % 800,
  CASE y % 4 WHEN 0 THEN x % 4000 / 2 ELSE 0 END,
  0
FROM draft
WHERE x % 2 = 0 AND x % 200 <> 1`

const TOKENS = [
  'input_tokens',
  'uncached_input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]

const NEST_REPORTS = `
UPDATE call_usage
SET
  tells_requests = 1,
  requests = nested_requests + 1,
  ${TOKENS.map((name) => `${name} = ${name} + nested_${name}`).join(', ')}
WHERE nested_requests IS NOT NULL`

const SPOIL_HOURS = `
UPDATE stats_hours SET built_revision = NULL, generation = generation + 1`
