/** Recorded calls to rows, all of a commit together. */
import { SqliteError } from 'better-sqlite3'
import type { RecordedRow } from '../../../domain/calls/recorded-call.ts'
import { packBytes } from '../calls/body-compression.ts'
import { toUsageParameters } from '../calls/call-parameters.ts'
import { INSERT_CALL_REF, USAGE_COLUMNS } from '../calls/calls.sql.ts'
import { createBulkInsert, type Parameter } from '../db/bulk-insert.ts'
import type { Connection } from '../db/connection.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import {
  NEXT_CALL_KEY,
  RECORDED_BODY_COLUMNS,
  RECORDED_CALL_COLUMNS,
} from './recorded-calls.sql.ts'

export interface RecordedInserts {
  /**
   * Inserts calls inside of a transaction of the caller's; false, and nothing written, when an id of them is taken.
   */
  insertAll(calls: readonly RecordedRow[]): boolean
}

export function createRecordedInserts(db: Connection, hours: HourMarks): RecordedInserts {
  const nextKey = db.prepare(NEXT_CALL_KEY).pluck()
  const callRows = createBulkInsert(db, 'calls', RECORDED_CALL_COLUMNS)
  const bodyRows = createBulkInsert(db, 'call_bodies', RECORDED_BODY_COLUMNS)
  const usageRows = createBulkInsert(db, 'call_usage', USAGE_COLUMNS)
  const insertRef = db.prepare(INSERT_CALL_REF)

  function writeRefs(call_key: number, { input_refs, output_refs }: RecordedRow): void {
    for (const ref of input_refs) insertRef.run({ call_key, side: 'input', ref })
    for (const ref of output_refs) insertRef.run({ call_key, side: 'output', ref })
  }

  const insertRows = db.transaction((calls: readonly RecordedRow[]) => {
    const firstKey = nextKey.get() as number
    const rows = { calls: [] as Parameter[], bodies: [] as Parameter[], usage: [] as Parameter[] }
    calls.forEach((call, index) => {
      const key = firstKey + index
      rows.calls.push(...listCall(key, call))
      rows.bodies.push(...listBodies(key, call))
      for (const usage of call.usage) rows.usage.push(...toUsageParameters(key, usage))
    })
    callRows.run(rows.calls)
    bodyRows.run(rows.bodies)
    usageRows.run(rows.usage)
    for (const [index, call] of calls.entries()) writeRefs(firstKey + index, call)
  })

  return {
    insertAll(calls) {
      try {
        insertRows(calls)
      } catch (error) {
        if (isTaken(error)) return false
        throw error
      }
      for (const { facts } of calls) hours.mark(facts.project_id, facts.started_at_us)
      return true
    },
  }
}

/** In the order of RECORDED_CALL_COLUMNS. */
function listCall(key: number, row: RecordedRow): Parameter[] {
  const { facts } = row
  return [
    key,
    facts.project_id,
    facts.id,
    facts.trace_id,
    facts.op_name,
    facts.started_at_us,
    facts.ended_at_us,
    facts.exception,
    facts.svc_user_id,
    facts.svc_username,
    row.start_size_bytes + row.end_size_bytes,
  ]
}

/** In the order of RECORDED_BODY_COLUMNS. */
function listBodies(key: number, row: RecordedRow): Parameter[] {
  const { attributes_json, inputs, output, summary_json } = row
  return [key, attributes_json, ...packBytes(inputs), ...packBytes(output), summary_json]
}

function isTaken(error: unknown): boolean {
  return error instanceof SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE'
}
