/** Parquet of an export as DuckDB reads it. */
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, it } from 'vitest'
import { toCopiedParts } from '../../src/domain/calls/copied-call.ts'
import { toCall } from '../../src/project-files/record-values.ts'
import { exportTo, inSqlite, PROJECT, withStores } from './project-folders.ts'

const CALLS = 12_000

it('is read by DuckDB with types, microseconds and digits', async () => {
  const settings = inSqlite()
  const call = {
    trace_id: 'trace',
    parent_id: null,
    thread_id: null,
    turn_id: null,
    op_name: 'ü',
    display_name: null,
    started_at: 1_767_258_000_000_001,
    exception: null,
    svc_user_id: 'u',
    svc_username: 'U',
    end_user_id: null,
    svc_run_id: null,
    svc_run_step: 7,
    svc_run_step_end: null,
    attributes: '{}',
    inputs: '{"n":12345678901234567890,"z":1.10}',
    output: 'null',
    summary: '{}',
    otel_dump: null,
  }
  const calls = Array.from({ length: CALLS }, (_, n) => {
    const ended_at = n % 2 === 0 ? null : call.started_at + n
    return toCopiedParts(toCall({ ...call, id: `call-${n}`, ended_at }, PROJECT), 'weave')
  })
  await withStores(settings, async (stores) => void (await stores.calls.writeParts(calls)))
  const { folder } = await exportTo(settings, 'parquet')

  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const read = async (sql: string) =>
      (
        await connection.runAndReadAll(sql.replace('CALLS', `'${join(folder, 'calls.parquet')}'`))
      ).getRowObjectsJS()
    const types = await read('DESCRIBE SELECT started_at, svc_run_step, inputs FROM CALLS')
    expect(types.map(({ column_type }) => column_type)).toEqual([
      'TIMESTAMP WITH TIME ZONE',
      'BIGINT',
      'VARCHAR',
    ])
    expect(
      await read(
        `SELECT count(*)::INT AS calls, count(ended_at)::INT AS ended, epoch_us(min(started_at))::VARCHAR AS start,
        sum(svc_run_step)::INT AS steps, min(op_name) AS op, max(epoch_us(ended_at) - epoch_us(started_at))::INT AS us
        FROM CALLS`,
      ),
    ).toEqual([
      {
        calls: CALLS,
        ended: CALLS / 2,
        start: '1767258000000001',
        steps: CALLS * 7,
        op: 'ü',
        us: CALLS - 1,
      },
    ])
    expect(await read("SELECT DISTINCT inputs ->> '$.n' AS n FROM CALLS")).toEqual([
      { n: '12345678901234567890' },
    ])
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
})
