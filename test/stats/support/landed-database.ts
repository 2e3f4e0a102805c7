/** A database as the first versions of Weft left it: their migrations alone, and rows put in by hand. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Connection, openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { migrate, readMigrations } from '../../../src/store/sqlite/db/migrate.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import type { RawCall, Tokens } from './naive-stats.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../migrations/sqlite/', import.meta.url))
/** Migrations before statistics had data of their own. */
const LANDED = 7

/** Makes the database in a directory. */
export function makeLandedDatabase(
  dataDir: string,
  project_id: string,
  calls: readonly RawCall[],
): void {
  const directory = makeTempDir()
  for (const { name } of readMigrations().slice(0, LANDED)) {
    cpSync(join(MIGRATIONS, name), join(directory, name))
  }
  const db = openDatabase(dataDir)
  migrate(db, `${directory}/`)
  const insertAll = db.transaction(() => {
    calls.forEach((call, index) => void insertCall(db, { project_id, call_key: index + 1 }, call))
  })
  insertAll()
  db.close()
}

function insertCall(
  db: Connection,
  { project_id, call_key }: { readonly project_id: string; readonly call_key: number },
  { id, end, input_refs, ...call }: RawCall,
): void {
  insert(db, 'calls', {
    call_key,
    project_id,
    id,
    svc_username: 'u',
    trace_id: call.trace_id,
    parent_id: call.parent_id,
    thread_id: call.thread_id,
    turn_id: call.turn_id,
    op_name: call.op_name,
    started_at_us: call.started_us,
    ended_at_us: end && call.started_us + end.latency_us,
    exception: end?.exception ?? null,
    svc_user_id: call.svc_user_id,
    svc_run_id: call.svc_run_id,
  })
  const told = Object.entries(end?.usage ?? {}).map(([model, { requests }]) => [
    model,
    requests === null ? {} : { requests },
  ])
  const summary_json = JSON.stringify({ usage: Object.fromEntries(told) })
  const { end_user_id } = call
  const attributes_json = JSON.stringify(end_user_id === null ? {} : { user: end_user_id })
  insert(db, 'call_bodies', { call_key, attributes_json, inputs_json: '{}', summary_json })
  for (const ref of input_refs) insert(db, 'call_refs', { call_key, side: 'input', ref })
  for (const ref of end?.output_refs ?? []) {
    insert(db, 'call_refs', { call_key, side: 'output', ref })
  }
  for (const [model, tokens] of Object.entries(end?.usage ?? {})) {
    insert(db, 'call_usage', { call_key, model, ...toUsageRow(tokens) })
  }
}

function toUsageRow(counted: Tokens) {
  const { uncached, requests, provider: _p, input_audio_tokens: _a, ...others } = counted
  const { reasoning_tokens: _r, ...tokens } = others
  return { ...tokens, uncached_input_tokens: uncached, requests: requests ?? 1 }
}

function insert(db: Connection, table: string, row: Record<string, unknown>): void {
  const columns = Object.keys(row)
  const values = columns.map((column) => `@${column}`)
  db.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${values.join()})`).run(row)
}
