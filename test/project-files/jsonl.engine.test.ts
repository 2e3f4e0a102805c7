/** JSON lines of an export as DuckDB reads them. */
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, it } from 'vitest'
import { toCopiedParts } from '../../src/domain/calls/copied-call.ts'
import { toCall } from '../../src/project-files/record-values.ts'
import { exportTo, inSqlite, PROJECT, withStores } from './project-folders.ts'

/** More than DuckDB's sample of 20,480 lines. */
const CALLS = 20_500
const CALL = {
  trace_id: 'trace',
  parent_id: null,
  thread_id: null,
  turn_id: null,
  op_name: 'ask',
  display_name: null,
  started_at: 1_767_258_000_000_001,
  ended_at: null,
  svc_user_id: null,
  svc_username: null,
  end_user_id: null,
  svc_run_id: null,
  svc_run_step: null,
  svc_run_step_end: null,
  attributes: '{}',
  inputs: '{"n":1}',
  output: 'null',
  summary: '{}',
  otel_dump: null,
}

it('are read by DuckDB with named columns, also a column that only the last line has', async () => {
  const settings = inSqlite()
  const calls = Array.from({ length: CALLS }, (_, n) => {
    const id = `call-${String(n).padStart(5, '0')}`
    const last = {
      ended_at: CALL.started_at + CALLS,
      exception: 'boom',
      inputs: '{"n":12345678901234567890}',
    }
    const call = { ...CALL, id, started_at: CALL.started_at + n, exception: null }
    return toCopiedParts(toCall(n === CALLS - 1 ? { ...call, ...last } : call, PROJECT), 'weave')
  })
  await withStores(settings, async (stores) => void (await stores.calls.writeParts(calls)))
  const { folder } = await exportTo(settings, 'jsonl')

  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const columns =
      "{id: 'VARCHAR', started_at: 'TIMESTAMPTZ', exception: 'VARCHAR', inputs: 'JSON'}"
    const path = join(folder, 'calls.jsonl')
    const rows = await connection.runAndReadAll(
      `SELECT count(*)::INT AS calls, count(exception)::INT AS failed, max(inputs ->> '$.n') AS n,
      epoch_us(min(started_at))::VARCHAR AS start FROM read_json('${path}', columns = ${columns})`,
    )
    expect(rows.getRowObjectsJS()).toEqual([
      { calls: CALLS, failed: 1, n: '12345678901234567890', start: String(CALL.started_at) },
    ])
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
})
