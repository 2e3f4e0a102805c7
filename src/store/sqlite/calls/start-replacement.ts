/** The write that replaces the start of a span that was stored while it ran. Runs inside the caller's transaction. */
import type { CallStart } from '../../../domain/calls/new-call.ts'
import type { FoundRef } from '../../../domain/objects/refs.ts'
import type { CallRow } from '../../base/calls/call-rows.ts'
import type { Connection } from '../db/connection.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import { packStart, toLateStartParameters } from './call-parameters.ts'
import { INSERT_CALL_REF, UPDATE_CALL_START, UPDATE_START_BODIES } from './calls.sql.ts'
import type { NameKeys } from './columns/id-columns.ts'
import { DELETE_REFS } from './removal/removal.sql.ts'

interface ReplacementParties {
  readonly hours: HourMarks
  readonly keys: NameKeys
  readonly writeRefs: (call_key: number, isOutput: 0 | 1, refs: readonly FoundRef[]) => void
}

/** @returns the write, for a call of which no end is stored: all its refs and bytes are those of its start */
export function createStartReplacement(
  db: Connection,
  { hours, keys, writeRefs }: ReplacementParties,
) {
  const updateStart = db.prepare(UPDATE_CALL_START)
  const updateBodies = db.prepare(UPDATE_START_BODIES)
  const deleteRefs = db.prepare(DELETE_REFS)

  return (row: CallRow, start: CallStart): void => {
    const { call_key, project_id, storage_size_bytes, is_orphan } = row
    const grown = { ...start, start_size_bytes: start.start_size_bytes - storage_size_bytes }
    updateStart.run(toLateStartParameters(call_key, grown, is_orphan === 1, keys))
    updateBodies.run([...packStart(start), call_key])
    deleteRefs.run([call_key])
    writeRefs(call_key, 0, start.input_refs)
    hours.remove(project_id, call_key, start.started_at_us)
    const is_root = start.parent_id === null || is_orphan === 1
    hours.start(project_id, call_key, { ...start, is_root }, null)
  }
}

/** Creates the write of the refs in a call's inputs or output. */
export function createRefWriter(db: Connection, keys: NameKeys) {
  const insertRef = db.prepare(INSERT_CALL_REF)

  return (call_key: number | bigint, isOutput: 0 | 1, refs: readonly FoundRef[]): void => {
    for (const { ref, path } of refs) {
      const path_key = path === null ? null : keys.pathKey(path)
      insertRef.run([call_key, isOutput, keys.refKey(ref), path_key])
    }
  }
}
