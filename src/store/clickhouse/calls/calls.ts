/** Calls in ClickHouse: the parts of a call are rows that are joined when they are read. */
import { toPackedOutcome, unpackCalls } from '../../../domain/calls/packed-calls.ts'
import type { CallStore } from '../../api/calls/calls.ts'
import { toStoredCall } from '../../base/calls/call-rows.ts'
import type { Arrivals } from '../../base/recordings/recordings.ts'
import type { ClickHouse } from '../db/client.ts'
import { findCall } from './call-lookups.ts'
import { SUM_TRACE_SIZES } from './calls.sql.ts'
import type { CallWrites } from './write/call-writes.ts'

/** @param arrivals - recorded calls that are not stored yet */
export function createCallStore(
  db: ClickHouse,
  writes: CallWrites,
  arrivals: Pick<Arrivals, 'wait'>,
): CallStore {
  return {
    async startCall(start) {
      const [result] = await writes.writeParts([{ start, end: null }])
      if (result?.error) throw result.error
      return result?.started ?? { id: start.id, trace_id: start.trace_id }
    },
    async endCall(end) {
      const [result] = await writes.writeParts([{ start: null, end }])
      if (result?.error) throw result.error
    },
    writeParts: writes.writeParts,
    async writePacked(packed) {
      const parts = unpackCalls(packed)
      return toPackedOutcome(parts, await writes.writeParts(parts))
    },
    writeLogs: writes.writeLogs,
    renameCall: writes.renameCall,
    deleteCalls: writes.deleteCalls,
    async findCall(project_id, id) {
      await arrivals.wait(project_id, [id])
      const found = await findCall(db, project_id, id)
      return found && toStoredCall({ ...found, deleted_at_us: null })
    },
    async sumTraceSizeBytes(project_id, traceId) {
      const parameters = { project_id, trace_ids: [traceId] }
      const [sum] = await db.read<{ bytes: number }>(SUM_TRACE_SIZES, parameters)
      return sum?.bytes ?? 0
    },
  }
}
