/** Calls in SQLite: both parts of a call meet in one row, whichever comes first. */
import type { CallStore } from '../api/calls.ts'
import { type CallRow, toStoredCall } from './call-rows.ts'
import { createCallWriter } from './call-writer.ts'
import type { Connection } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import { createHourMarks } from './hour-marks.ts'
import { createProjectVersions, type ProjectVersions } from './project-versions.ts'
import * as SQL from './sql/calls.ts'
import { toStoreError } from './store-error.ts'

export function createCallStore(
  db: Connection,
  commit: GroupCommit,
  versions: ProjectVersions = createProjectVersions(),
): CallStore {
  const hours = createHourMarks(db, commit, versions)
  const writer = createCallWriter(db, hours)
  const findCall = db.prepare(SQL.FIND_CALL)
  const sumTraceSize = db.prepare(SQL.SUM_TRACE_SIZE)
  const deleteCalls = db.prepare(SQL.DELETE_CALLS).pluck()

  return {
    startCall: (start) => commit.write(() => writer.writeStart(start)),
    endCall: (end) => commit.write(() => writer.writeEnd(end)),
    writeParts: (parts, options) => commit.write(() => writer.writeParts(parts), options),
    renameCall: (rename) => commit.write(() => writer.writeName(rename)),
    deleteCalls: ({ project_id, ids, deleted_at_us }) =>
      commit.write(() => {
        const parameters = { project_id, ids: JSON.stringify(ids), deleted_at_us }
        const deleted = deleteCalls.all(parameters) as (number | null)[]
        for (const startedAtUs of deleted) {
          if (startedAtUs !== null) hours.mark(project_id, startedAtUs, true)
        }
        return deleted.length
      }),
    async findCall(project_id, id) {
      const row = read(() => findCall.get({ project_id, id }) as CallRow | undefined)
      return row ? toStoredCall(row) : null
    },
    async sumTraceSizeBytes(project_id, trace_id) {
      const row = read(() => sumTraceSize.get({ project_id, trace_id }) as { bytes: number })
      return row.bytes
    },
  }
}

function read<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw toStoreError(error)
  }
}
