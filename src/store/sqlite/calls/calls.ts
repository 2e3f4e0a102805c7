/** Calls in SQLite: the start and the end of a call share one row, whichever comes first. */
import type { PartResult } from '../../../domain/calls/call-state.ts'
import { toReplyError } from '../../../threads/thread-failure.ts'
import type { CallStore } from '../../api/calls/calls.ts'
import { type CallRow, toStoredCall } from '../../base/calls/call-rows.ts'
import type { Arrivals } from '../../base/recordings/recordings.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'
import type { PartReply } from './call-writes.ts'
import * as SQL from './calls.sql.ts'

/**
 * @param db - for reads on this thread
 * @param arrivals - recorded calls that are not stored yet
 */
export function createCallStore(db: Connection, writes: Writes, arrivals: Arrivals): CallStore {
  const findCall = db.prepare(SQL.FIND_CALL)
  const sumTraceSize = db.prepare(SQL.SUM_TRACE_SIZE)

  return {
    startCall: (start) => writes.run('start_call', start),
    endCall: (end) => writes.run('end_call', end),
    async writeParts(parts) {
      return (await writes.run('write_parts', parts)).map(toPartResult)
    },
    async writePacked(packed) {
      const { exceptions, ...counts } = await writes.run('write_packed', packed)
      return {
        ...counts,
        exceptions: exceptions.map(([index, reply]) => [index, toPartResult(reply)]),
      }
    },
    writeLogs: (logs) => writes.run('write_logs', logs),
    renameCall: (rename) => writes.run('rename_call', rename),
    deleteCalls: (deletion) => writes.run('delete_calls', deletion),
    async findCall(project_id, id) {
      await arrivals.wait(project_id, [id])
      const row = orStoreError(() => findCall.get({ project_id, id }) as CallRow | undefined)
      return row ? toStoredCall(row) : null
    },
    async sumTraceSizeBytes(project_id, trace_id) {
      const row = orStoreError(
        () => sumTraceSize.get({ project_id, trace_id }) as { bytes: number },
      )
      return row.bytes
    },
  }
}

function toPartResult({ started, ...failure }: PartReply): PartResult {
  const error = toReplyError(failure)
  return error ? { error } : { started }
}
