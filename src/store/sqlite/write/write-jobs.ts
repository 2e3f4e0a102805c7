/**
 * The registry of the writes that calls stream in by. Each runs inside of a transaction of the group
 * commit, on the connection that is its turn, and takes and gives what structured clone can carry.
 */
import type { CallEnd, CallParts, CallStart } from '../../../domain/calls/new-call.ts'
import {
  type RecordedBytes,
  type RecordedCall,
  type RecordedRow,
  resolveRecordedCall,
  toCallParts,
  toRecordedBytes,
} from '../../../domain/calls/recorded-call.ts'
import type { CallDeletion, CallRename, StartedIds } from '../../api/calls.ts'
import { createCallWriter } from '../calls/call-writer.ts'
import { DELETE_CALLS } from '../calls/calls.sql.ts'
import type { Connection } from '../db/connection.ts'
import { type Failure, renderFailure } from '../db/thread-failure.ts'
import { createRecordedInserts } from '../recordings/recorded-inserts.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import type { WriteOptions } from './group-commit.ts'

export type WriteJobs = ReturnType<typeof createWriteJobs>
export type WriteInput<Name extends keyof WriteJobs> = Parameters<WriteJobs[Name]>[0]
export type WriteOutput<Name extends keyof WriteJobs> = ReturnType<WriteJobs[Name]>

/** Runs writes of the registry, each in a transaction that it shares with others. */
export interface CallWrites {
  /**
   * @throws ApiError server_overloaded when too many wait; store_unavailable when the commit fails or a
   * thread dies, after which it may be stored; and what the write throws
   */
  run<Name extends keyof WriteJobs>(
    name: Name,
    input: WriteInput<Name>,
    options?: WriteOptions,
  ): Promise<WriteOutput<Name>>
}

/** What became of a part: the ids of a start, null for an end, or why it was refused. */
export interface WrittenPart {
  readonly started: StartedIds | null
  readonly refused?: Failure
}

/** @param hours - of the same connection */
export function createWriteJobs(db: Connection, hours: HourMarks) {
  const writer = createCallWriter(db, hours)
  const recorded = createRecordedInserts(db, hours)
  const deleteCalls = db.prepare(DELETE_CALLS).pluck()

  function recordBytes(calls: readonly RecordedBytes[]): Failure[] {
    const { rows, refused } = resolveCalls(calls)
    if (recorded.insertAll(rows)) return refused
    for (const { error } of writer.writeParts(rows.map(toCallParts)))
      if (error) refused.push(renderFailure(error))
    return refused
  }

  return {
    start_call: (start: CallStart) => writer.writeStart(start),
    end_call: (end: CallEnd) => writer.writeEnd(end),
    write_parts: (parts: readonly CallParts[]): WrittenPart[] =>
      writer
        .writeParts(parts)
        .map(({ started, error }) =>
          error ? { started: null, refused: renderFailure(error) } : { started },
        ),
    /** Gives why some were refused, which leaves the others alone. */
    record_calls: (calls: readonly RecordedCall[]) => recordBytes(calls.map(toRecordedBytes)),
    /** The same, in the thread whose ring they stand in. */
    record_bytes: recordBytes,
    rename_call: (rename: CallRename) => writer.writeName(rename),
    delete_calls({ project_id, ids, deleted_at_us }: CallDeletion): number {
      const parameters = { project_id, ids: JSON.stringify(ids), deleted_at_us }
      const deleted = deleteCalls.all(parameters) as (number | null)[]
      for (const startedAtUs of deleted) {
        if (startedAtUs !== null) hours.mark(project_id, startedAtUs, true)
      }
      return deleted.length
    },
  }
}

function resolveCalls(calls: readonly RecordedBytes[]) {
  const rows: RecordedRow[] = []
  const refused: Failure[] = []
  for (const call of calls) {
    try {
      rows.push(resolveRecordedCall(call))
    } catch (error) {
      refused.push(renderFailure(error))
    }
  }
  return { rows, refused }
}
