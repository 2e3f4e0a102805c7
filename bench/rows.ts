/**
 * How much space calls take in the database before and after the migration that made them narrow, and how long it runs:
 *
 *   npm run bench -- rows --calls 1000000
 *
 * Calls have ids that are UUIDs, refs of ops as names, one ref, and no bodies to speak of.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { type Connection, DATABASE_FILE, openDatabase } from '../src/store/sqlite/db/connection.ts'
import { migrate } from '../src/store/sqlite/db/migrate.ts'
import { migrateTo } from './stats/data.ts'

/** The schema in which calls are written before the migration. */
const MIGRATIONS = 13
const MB = 1e6

const UUID = (n: string) =>
  `printf('01980000-%04x-7%03x-8%03x-%012x', ${n} / 65536, ${n} % 4096, ${n} / 7 % 4096, ${n})`

const INSERT_CALLS = `
WITH RECURSIVE drawn (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM drawn WHERE n + 1 < @calls)
INSERT INTO calls (
  project_id, id, trace_id, parent_id, thread_id, turn_id, op_name, started_at_us, ended_at_us,
  svc_user_id, svc_username, storage_size_bytes
)
SELECT
  'acme/demo', ${UUID('n')}, ${UUID('(n - n % 8)')},
  CASE n % 8 WHEN 0 THEN NULL ELSE ${UUID('(n - n % 8)')} END,
  printf('thread-%d', n / 160), ${UUID('(n - n % 8)')},
  printf('weave:///acme/demo/op/step_%d:AbCdEfGhIjKlMnOpQrStUvWxYz0123456789aBcDeFg', n % 20),
  1780000000000000 + n * 1000, 1780000000000000 + n * 1000 + 90000, 'user', 'user', 4
FROM drawn`
const INSERT_BODIES = `
INSERT INTO call_bodies (call_key, attributes_json, inputs_json, output_json, summary_json)
SELECT call_key, '{}', '{}', '{}', '{}' FROM calls`
const INSERT_REFS = `
INSERT INTO call_refs (call_key, side, ref)
SELECT
  call_key, 'input',
  printf('weave:///acme/demo/object/rows_%d:AbCdEfGhIjKlMnOpQrStUvWxYz0123456789aBcDeFg', call_key % 1000)
FROM calls`
const SELECT_SIZES = `
SELECT coalesce(names.tbl_name, dbstat.name), dbstat.name, sum(pgsize)
FROM dbstat
LEFT JOIN sqlite_schema AS names ON names.name = dbstat.name
GROUP BY dbstat.name
ORDER BY 1, 2`
/** The tables that hold calls. */
const TABLES = ['calls', 'call_bodies', 'call_refs', 'refs', 'projects', 'ops']

function reportSizes(db: Connection, title: string): void {
  console.log(`\n${title}`)
  const rows = db.prepare(SELECT_SIZES).raw().all() as [string, string, number][]
  const listed = rows.filter(([table]) => TABLES.includes(table))
  for (const [, name, bytes] of listed)
    console.log(`${(bytes / MB).toFixed(1).padStart(8)} MB  ${name}`)
  const total = listed.reduce((sum, [, , bytes]) => sum + bytes, 0)
  console.log(`${(total / MB).toFixed(1).padStart(8)} MB`)
}

/** Older files were created without auto_vacuum, which cannot be changed later. */
function makeOldFile(): void {
  const db = new Database(join(dataDir, DATABASE_FILE))
  db.pragma('journal_mode = WAL')
  db.close()
}

const { values } = readArguments({ options: { calls: { type: 'string', default: '1000000' } } })
const dataDir = mkdtempSync(join(tmpdir(), 'weft-rows-'))
try {
  makeOldFile()
  const db = openDatabase(dataDir)
  migrateTo(db, MIGRATIONS)
  const fill = db.transaction(() => {
    db.prepare(INSERT_CALLS).run({ calls: readCount(values.calls) })
    db.exec(INSERT_BODIES)
    db.exec(INSERT_REFS)
  })
  fill()
  db.pragma('wal_checkpoint(TRUNCATE)')
  reportSizes(db, `${values.calls} calls before`)
  const begin = performance.now()
  const before = process.cpuUsage()
  migrate(db)
  const seconds = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(before)
  const cpuSeconds = (user + system) / 1e6
  const wal = statSync(join(dataDir, `${DATABASE_FILE}-wal`)).size
  reportSizes(db, 'after')
  console.log(
    `\nmigrated in ${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of CPU) with a log of ${(wal / MB).toFixed(0)} MB`,
  )
  db.close()
} finally {
  rmSync(dataDir, { recursive: true })
}
