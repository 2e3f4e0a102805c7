/** The write jobs of calls: those that clients send, and completions that the server records. */
import type { PartResult, StartedIds } from '../../../domain/calls/call-state.ts'
import type { CallEnd, CallParts, CallStart } from '../../../domain/calls/new-call.ts'
import {
  type PackedCalls,
  type PackedOutcome,
  toPackedOutcome,
  unpackCalls,
} from '../../../domain/calls/packed-calls.ts'
import { type RecordedCall, resolveRecordedCall } from '../../../domain/calls/recorded-call.ts'
import { type Failure, renderFailure } from '../../../threads/thread-failure.ts'
import type { CallDeletion, CallLogs, CallRename } from '../../api/calls/calls.ts'
import { type RecordedChunks, unpackRecorded } from '../../base/recordings/recordings.ts'
import type { Connection } from '../db/connection.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import { createNestedUsage } from '../usage/nested-usage.ts'
import { createCallWriter } from './call-writer.ts'
import { DELETE_CALLS } from './calls.sql.ts'
import type { NameKeys } from './columns/id-columns.ts'
import { createOrphans } from './orphans.ts'

/** The result of a part in a form that the writer thread can send: errors cannot be cloned. */
export interface PartReply extends Failure {
  readonly started: StartedIds | null
}

interface DeletedCall {
  readonly id: string
  readonly call_key: number
  readonly started_at_us: number | null
}

/** @param hours - like `keys`, over the same connection */
export function createCallWrites(db: Connection, hours: HourMarks, keys: NameKeys) {
  const usage = createNestedUsage(db, hours, keys)
  const orphans = createOrphans(db, hours, keys)
  const writer = createCallWriter(db, { hours, keys, usage, orphans })
  const deleteCalls = db.prepare(DELETE_CALLS)

  /** What of the usage counts is decided once, after all parts. */
  function writeParts(parts: readonly CallParts[]): PartResult[] {
    const results = writer.writeParts(parts)
    usage.settle()
    return results
  }

  function writePart(part: CallParts): StartedIds | null {
    const started = writer.writePart(part)
    usage.settle()
    return started
  }

  return {
    start_call: (start: CallStart) => writePart({ start, end: null }) as StartedIds,
    end_call(end: CallEnd): void {
      writePart({ start: null, end })
    },
    write_parts: (parts: readonly CallParts[]): PartReply[] => writeParts(parts).map(toReply),
    write_packed(packed: PackedCalls<CallParts>): PackedOutcome<PartReply> {
      const parts = unpackCalls(packed)
      const { exceptions, ...counts } = toPackedOutcome(parts, writeParts(parts))
      return { ...counts, exceptions: exceptions.map(([at, result]) => [at, toReply(result)]) }
    },
    /** Returns how many records were not stored. */
    write_logs: (logs: CallLogs) => writer.writeLogs(logs),
    rename_call: (rename: CallRename) => writer.writeName(rename),
    /** Returns the ids of the deleted calls. */
    delete_calls({ project_id, ids, deleted_at_us }: CallDeletion): string[] {
      const parameters = { project_id, ids: JSON.stringify(ids), deleted_at_us }
      const deleted = deleteCalls.all(parameters) as DeletedCall[]
      usage.leave(deleted.map(({ call_key }) => call_key))
      usage.settle()
      for (const { call_key, started_at_us } of deleted) {
        if (started_at_us !== null) hours.remove(project_id, call_key, started_at_us)
      }
      return deleted.map(({ id }) => id)
    },
    /** Returns the reasons of refused calls; the others are written. */
    record_calls(calls: RecordedChunks): Failure[] {
      const refused: Failure[] = []
      for (const call of unpackRecorded(calls)) {
        const parts = resolve(call, refused)
        if (parts === null) continue
        for (const { error } of writeParts([parts])) {
          if (error) refused.push(renderFailure(error))
        }
      }
      return refused
    },
  }
}

function toReply({ started, error }: PartResult): PartReply {
  return error ? { started: null, ...renderFailure(error) } : { started }
}

/** Returns the parts of a recorded call; for a refused one, adds the reason and returns null. */
function resolve(call: RecordedCall, refused: Failure[]): CallParts | null {
  try {
    return resolveRecordedCall(call)
  } catch (error) {
    refused.push(renderFailure(error))
    return null
  }
}
