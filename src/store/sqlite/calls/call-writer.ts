/**
 * The writes of calls: starts, ends, both at once, batches, new names. All run inside the caller's transaction. A
 * refusal is decided before anything is written, so one part of a batch can fail alone.
 */
import {
  type CallIdentity,
  type CallState,
  decideName,
  decideParts,
  isSameEnd,
  isSameSpan,
  isSameStart,
  keyOf,
  type PartDecisions,
  type PartResult,
  type StartedIds,
  startedIds,
  toPartResult,
} from '../../../domain/calls/call-state.ts'
import {
  type CallEnd,
  type CallParts,
  type CallStart,
  settleUsage,
} from '../../../domain/calls/new-call.ts'
import { countUsage } from '../../../domain/usage/own-usage.ts'
import { readStoredLink } from '../../../domain/usage/request-identity.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import type { CallRename } from '../../api/calls/calls.ts'
import type { CallRow } from '../../base/calls/call-rows.ts'
import type { Connection } from '../db/connection.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import type { EntryEnd } from '../stats/segments/hour-entries.ts'
import type { NestedUsage } from '../usage/nested-usage.ts'
import { createCallLogs } from './call-logs.ts'
import {
  packEnd,
  packStart,
  toIdParameters,
  toLateStartParameters,
  toStartParameters,
  toWholeParameters,
} from './call-parameters.ts'
import * as SQL from './calls.sql.ts'
import type { NameKeys } from './columns/id-columns.ts'
import { isCounted, isRoot, type Orphans, toEntryCall } from './orphans.ts'
import { createRefWriter, createStartReplacement } from './start-replacement.ts'

type Key = number | bigint

/** The tables that writes of calls update besides the calls, on the same connection. */
interface CallParties {
  readonly hours: HourMarks
  readonly keys: NameKeys
  readonly usage: NestedUsage
  readonly orphans: Orphans
}

export function createCallWriter(db: Connection, parties: CallParties) {
  const writeRefs = createRefWriter(db, parties.keys)
  const parts = createPartWriter(db, parties, writeRefs)
  const { insertPart, completePart, findExisting } = parts
  const logs = createCallLogs(db, { findCall: findExisting, writeRefs })

  /** Writes nothing when a part is in conflict with the stored call. @throws ApiError call_conflict */
  function writePart(sent: CallParts): StartedIds | null {
    const part = logs.joinTo(sent)
    const { start, end } = part
    const identity = start ?? end
    if (identity === null) return null
    if (insertPart(part)) return start && startedIds(null, start)
    const row = findExisting(identity)
    const state = toState(row)
    completePart(row, part, decideParts(state, part))
    return start && startedIds(state, start)
  }

  function writeBatch(batch: readonly CallParts[]): PartResult[] {
    const ends = indexEnds(batch)
    const results: PartResult[] = []
    batch.forEach((part, index) => {
      if (results[index]) return
      const { start, end } = part
      const pair = start && !end ? ends.get(keyOf(start)) : undefined
      const pairEnd = pair !== undefined && !results[pair] ? batch[pair]?.end : null
      if (start && pair !== undefined && pairEnd && insertPart({ start, end: pairEnd })) {
        results[index] = { started: startedIds(null, start) }
        results[pair] = { started: null }
      } else {
        results[index] = toPartResult(() => writePart(part))
      }
    })
    return results
  }

  return {
    writePart,
    writeName: createNameWriter(db, parties.keys, parts.findExisting),
    writeLogs: logs.write,

    /** Writes a batch. A start and its end in the same batch are inserted as one row, which is half the work. */
    writeParts(batch: readonly CallParts[]): PartResult[] {
      return batch.length === 1
        ? writeBatch(batch)
        : parties.orphans.inBatch(batch, () => writeBatch(batch))
    },
  }
}

/** Returns the index of the first end without a start of each call in a batch, by keyOf. */
function indexEnds(batch: readonly CallParts[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  batch.forEach(({ start, end }, index) => {
    if (end && !start && !ends.has(keyOf(end))) ends.set(keyOf(end), index)
  })
  return ends
}

/** Creates the writes of single parts. */
function createPartWriter(
  db: Connection,
  { hours, keys, usage, orphans }: CallParties,
  writeRefs: ReturnType<typeof createRefWriter>,
) {
  const statements = prepareStatements(db)
  const replaceStart = createStartReplacement(db, { hours, keys, writeRefs })

  function findExisting({ project_id, id }: CallIdentity): CallRow {
    return statements.findCall.get({ project_id, id }) as CallRow
  }

  function beginEntry(call_key: Key, start: CallStart, isOrphan: boolean, end: EntryEnd | null) {
    const call = toEntryCall(start, start.parent_id === null || isOrphan)
    hours.start(start.project_id, call_key, call, end)
    orphans.settle(call_key, start)
  }

  function insertWhole(start: CallStart, end: CallEnd): boolean {
    const isOrphan = orphans.isOrphan(start)
    const inserted = statements.insertWhole.run(toWholeParameters(start, end, isOrphan, keys))
    if (inserted.changes === 0) return false
    const call_key = inserted.lastInsertRowid
    statements.insertWholeBodies.run([call_key, ...packStart(start), ...packEnd(end)])
    writeRefs(call_key, 0, start.input_refs)
    writeRefs(call_key, 1, end.output_refs)
    beginEntry(call_key, start, isOrphan, toEntryEnd(end))
    usage.report(call_key, start, end)
    return true
  }

  function insertStart(start: CallStart): boolean {
    const isOrphan = orphans.isOrphan(start)
    const inserted = statements.insertStart.run(toStartParameters(start, isOrphan, keys))
    if (inserted.changes === 0) return false
    const call_key = inserted.lastInsertRowid
    statements.insertStartBodies.run([call_key, ...packStart(start)])
    writeRefs(call_key, 0, start.input_refs)
    beginEntry(call_key, start, isOrphan, null)
    return true
  }

  function insertEnd(end: CallEnd): boolean {
    const inserted = statements.insertEnd.run(toIdParameters(end, keys))
    if (inserted.changes === 0) return false
    const call_key = inserted.lastInsertRowid
    statements.insertEndBodies.run([call_key, ...packEnd(end)])
    usage.reportEarly(call_key, end)
    writeRefs(call_key, 1, end.output_refs)
    return true
  }

  /** Adds a start to a call whose end, new name or deletion came first. */
  function completeStart(row: CallRow, start: CallStart): void {
    const { call_key } = row
    const isDeleted = row.deleted_at_us !== null
    const stored = isDeleted ? withoutTexts(start) : start
    const isOrphan = !isDeleted && orphans.isOrphan(start)
    statements.updateStart.run(toLateStartParameters(call_key, stored, isOrphan, keys))
    if (isDeleted) return
    statements.updateStartBodies.run([...packStart(start), call_key])
    writeRefs(call_key, 0, start.input_refs)
    const reports = usage.completeStart(row, start)
    beginEntry(call_key, start, isOrphan, findEnd(row, reports))
  }

  /** Adds an end to a call whose start or new name came first. */
  function completeEnd(row: CallRow, sent: CallEnd): void {
    const { call_key } = row
    const end = settleUsage(sent, row.attributes_json)
    statements.updateEnd.run({ call_key, ...end })
    statements.updateEndBodies.run([...packEnd(end), call_key])
    writeRefs(call_key, 1, end.output_refs)
    if (isCounted(row)) {
      hours.end(row.project_id, call_key, toEntryCall(row, isRoot(row)), toEntryEnd(end))
      usage.report(call_key, { ...row, linked_id: readStoredLink(row) }, end)
    } else usage.reportEarly(call_key, end)
  }

  return {
    findExisting,

    /** Inserts the parts of a new call; returns false and writes nothing when the id is taken. */
    insertPart({ start, end }: CallParts): boolean {
      if (start && end) return insertWhole(start, settleUsage(end, start.attributes_json))
      if (start) return insertStart(start)
      return end !== null && insertEnd(end)
    },

    completePart(row: CallRow, { start, end }: CallParts, decided: PartDecisions): void {
      if (start && decided.start === 'complete') completeStart(row, start)
      if (start && decided.start === 'replace') replaceStart(row, start)
      if (end && decided.end === 'complete') completeEnd(start ? findExisting(row) : row, end)
    },
  }
}

/** Creates the write of new names. */
function createNameWriter(
  db: Connection,
  keys: NameKeys,
  findExisting: (name: CallIdentity) => CallRow,
) {
  const insertName = db.prepare(SQL.INSERT_CALL_NAME)
  const insertNoBodies = db.prepare(SQL.INSERT_NO_BODIES)
  const updateName = db.prepare(SQL.UPDATE_CALL_NAME)

  return (rename: CallRename): void => {
    const inserted = insertName.run(toIdParameters(rename, keys))
    if (inserted.changes === 1) {
      insertNoBodies.run({ call_key: inserted.lastInsertRowid })
      return
    }
    const row = findExisting(rename)
    decideName(toState(row))
    updateName.run({ call_key: row.call_key, display_name: rename.display_name })
  }
}

function toState(row: CallRow): CallState {
  const { started_at_us, trace_id } = row
  const isStarted = started_at_us !== null && trace_id !== null
  return {
    start: isStarted
      ? {
          trace_id,
          isSame: (again) => isSameStart(row, again),
          isSameSpan: (again) => isSameSpan(row, again),
          isFirstKept: false,
        }
      : null,
    end: row.ended_at_us === null ? null : { isSame: (again) => isSameEnd(row, again) },
    isDeleted: row.deleted_at_us !== null,
  }
}

/** The entry of an end; what of its reports counts elsewhere is settled at the end of the write. */
function toEntryEnd({
  ended_at_us,
  exception,
  usage,
}: Pick<CallEnd, 'ended_at_us' | 'exception' | 'usage'>): EntryEnd {
  return { ended_at_us, exception, usage: usage.flatMap((report) => countUsage(report, null)) }
}

/** Returns the end of a call whose end came before its start, or null. */
function findEnd(
  { ended_at_us, exception }: CallRow,
  usage: readonly CallUsage[],
): EntryEnd | null {
  return ended_at_us === null ? null : toEntryEnd({ ended_at_us, exception, usage })
}

function prepareStatements(db: Connection) {
  return {
    insertStart: db.prepare(SQL.INSERT_CALL_START),
    updateStart: db.prepare(SQL.UPDATE_CALL_START),
    insertStartBodies: db.prepare(SQL.INSERT_START_BODIES),
    updateStartBodies: db.prepare(SQL.UPDATE_START_BODIES),
    insertEnd: db.prepare(SQL.INSERT_CALL_END),
    updateEnd: db.prepare(SQL.UPDATE_CALL_END),
    insertEndBodies: db.prepare(SQL.INSERT_END_BODIES),
    updateEndBodies: db.prepare(SQL.UPDATE_END_BODIES),
    insertWhole: db.prepare(SQL.INSERT_WHOLE_CALL),
    insertWholeBodies: db.prepare(SQL.INSERT_WHOLE_BODIES),
    findCall: db.prepare(SQL.FIND_CALL),
  }
}

/** Returns what the narrow row keeps of a call that was deleted before its start came: the same as FREE_CALL keeps. */
function withoutTexts(start: CallStart): CallStart {
  return {
    ...start,
    thread_id: null,
    turn_id: null,
    display_name: null,
    end_user_id: null,
    start_size_bytes: 0,
  }
}
