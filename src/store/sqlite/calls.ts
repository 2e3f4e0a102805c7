/** Calls in SQLite: both parts of a call meet in one row, whichever comes first. */
import type { CallEnd, CallStart } from '../../domain/new-call.ts'
import { ApiError } from '../../errors.ts'
import type { CallStore } from '../api/calls.ts'
import { type CallRow, isSameEnd, isSameStart, toStoredCall } from './call-rows.ts'
import type { Connection } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import * as SQL from './sql/calls.ts'
import { toStoreError } from './store-error.ts'

type Key = number | bigint

export function createCallStore(db: Connection, commit: GroupCommit): CallStore {
  const writer = createCallWriter(db)
  const findCall = db.prepare(SQL.FIND_CALL)
  const sumTraceSize = db.prepare(SQL.SUM_TRACE_SIZE)

  return {
    startCall: (start) => commit.write(() => writer.writeStart(start)),
    endCall: (end) => commit.write(() => writer.writeEnd(end)),
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

/** The two writes of a call; each runs inside a transaction of the caller's. */
function createCallWriter(db: Connection) {
  const insertStart = db.prepare(SQL.INSERT_CALL_START)
  const updateStart = db.prepare(SQL.UPDATE_CALL_START)
  const insertStartBodies = db.prepare(SQL.INSERT_START_BODIES)
  const updateStartBodies = db.prepare(SQL.UPDATE_START_BODIES)
  const insertEnd = db.prepare(SQL.INSERT_CALL_END)
  const updateEnd = db.prepare(SQL.UPDATE_CALL_END)
  const insertEndBodies = db.prepare(SQL.INSERT_END_BODIES)
  const updateEndBodies = db.prepare(SQL.UPDATE_END_BODIES)
  const insertUsage = db.prepare(SQL.INSERT_CALL_USAGE)
  const insertRef = db.prepare(SQL.INSERT_CALL_REF)
  const findCall = db.prepare(SQL.FIND_CALL)

  function writeRefs(call_key: Key, side: 'input' | 'output', refs: readonly string[]): void {
    for (const ref of refs) insertRef.run({ call_key, side, ref })
  }

  function writeUsage(call_key: Key, end: CallEnd): void {
    for (const usage of end.usage) insertUsage.run({ call_key, ...usage })
  }

  function existing(part: CallStart | CallEnd): CallRow {
    return findCall.get({ project_id: part.project_id, id: part.id }) as CallRow
  }

  return {
    writeStart(start: CallStart) {
      const inserted = insertStart.run(start)
      if (inserted.changes === 1) {
        const call_key = inserted.lastInsertRowid
        insertStartBodies.run({ call_key, ...start })
        writeRefs(call_key, 'input', start.input_refs)
        return { id: start.id, trace_id: start.trace_id }
      }
      const row = existing(start)
      if (row.started_at_us === null) {
        const { call_key } = row
        updateStart.run({ call_key, ...start })
        updateStartBodies.run({ call_key, ...start })
        writeRefs(call_key, 'input', start.input_refs)
        return { id: start.id, trace_id: start.trace_id }
      }
      if (!isSameStart(row, start)) throw new ApiError('call_conflict', { param: 'start.id' })
      return { id: start.id, trace_id: row.trace_id ?? start.trace_id }
    },

    writeEnd(end: CallEnd): void {
      const inserted = insertEnd.run(end)
      const isFirst = inserted.changes === 1
      const row = isFirst ? null : existing(end)
      if (row && row.ended_at_us !== null) {
        if (!isSameEnd(row, end)) throw new ApiError('call_conflict', { param: 'end.id' })
        return
      }
      const call_key = row ? row.call_key : inserted.lastInsertRowid
      if (row) {
        updateEnd.run({ call_key, ...end })
        updateEndBodies.run({ call_key, ...end })
      } else {
        insertEndBodies.run({ call_key, ...end })
      }
      writeUsage(call_key, end)
      writeRefs(call_key, 'output', end.output_refs)
    },
  }
}
