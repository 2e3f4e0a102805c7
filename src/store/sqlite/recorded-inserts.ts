/** Recorded calls to rows, all of a commit together. */
import { SqliteError } from 'better-sqlite3'
import type { WholeCall } from '../../domain/new-call.ts'
import { packBodies } from './body-compression.ts'
import { createBulkInsert, type Parameter } from './bulk-insert.ts'
import { toUsageParameters } from './call-parameters.ts'
import type { Connection } from './connection.ts'
import type { HourMarks } from './hour-marks.ts'
import { INSERT_CALL_REF, USAGE_COLUMNS } from './sql/calls.ts'
import {
  NEXT_CALL_KEY,
  RECORDED_BODY_COLUMNS,
  RECORDED_CALL_COLUMNS,
} from './sql/recorded-calls.ts'

export interface RecordedInserts {
  /**
   * Inserts calls inside of a transaction of the caller's; false, and nothing written, when an id of them is taken.
   */
  insertAll(calls: readonly WholeCall[]): boolean
}

export function createRecordedInserts(db: Connection, hours: HourMarks): RecordedInserts {
  const nextKey = db.prepare(NEXT_CALL_KEY).pluck()
  const callRows = createBulkInsert(db, 'calls', RECORDED_CALL_COLUMNS)
  const bodyRows = createBulkInsert(db, 'call_bodies', RECORDED_BODY_COLUMNS)
  const usageRows = createBulkInsert(db, 'call_usage', USAGE_COLUMNS)
  const insertRef = db.prepare(INSERT_CALL_REF)

  function writeRefs(call_key: number, { start, end }: WholeCall): void {
    for (const ref of start.input_refs) insertRef.run({ call_key, side: 'input', ref })
    for (const ref of end.output_refs) insertRef.run({ call_key, side: 'output', ref })
  }

  const insertRows = db.transaction((calls: readonly WholeCall[]) => {
    const firstKey = nextKey.get() as number
    const rows = { calls: [] as Parameter[], bodies: [] as Parameter[], usage: [] as Parameter[] }
    calls.forEach((call, index) => {
      const key = firstKey + index
      rows.calls.push(...listCall(key, call))
      rows.bodies.push(...listBodies(key, call))
      for (const usage of call.end.usage) rows.usage.push(...toUsageParameters(key, usage))
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
      for (const { start } of calls) hours.mark(start.project_id, start.started_at_us)
      return true
    },
  }
}

/** In the order of RECORDED_CALL_COLUMNS. */
function listCall(key: number, { start, end }: WholeCall): Parameter[] {
  return [
    key,
    start.project_id,
    start.id,
    start.trace_id,
    start.op_name,
    start.started_at_us,
    end.ended_at_us,
    end.exception,
    start.svc_user_id,
    start.svc_username,
    start.start_size_bytes + end.end_size_bytes,
  ]
}

/** In the order of RECORDED_BODY_COLUMNS. */
function listBodies(key: number, { start, end }: WholeCall): Parameter[] {
  const packed = packBodies(start.inputs_json, end.output_json)
  return [key, start.attributes_json, ...packed, end.summary_json]
}

function isTaken(error: unknown): boolean {
  return error instanceof SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE'
}
