/**
 * Maintains which calls are orphans: their parent is not among the stored calls, because it has not arrived, or was deleted
 * before they came. They are roots of what there is, until the parent arrives. Runs inside the caller's transaction.
 */
import { keyOf } from '../../../domain/calls/call-state.ts'
import type { CallParts, CallStart } from '../../../domain/calls/new-call.ts'
import type { CallRow } from '../../base/calls/call-rows.ts'
import type { Connection } from '../db/connection.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import type { EntryCall } from '../stats/segments/hour-entries.ts'
import { type NameKeys, packId } from './columns/id-columns.ts'
import { ADOPT_ORPHANS, HAS_ORPHANS, IS_LIVE, MARK_ORPHAN } from './orphans.sql.ts'

type Key = number | bigint
type StartedCall = Pick<CallStart, 'project_id' | 'id' | 'parent_id' | 'started_at_us'>

export type Orphans = ReturnType<typeof createOrphans>

/** @param hours - like `keys`, over the same connection */
export function createOrphans(
  db: Connection,
  hours: Pick<HourMarks, 'reroot'>,
  keys: Pick<NameKeys, 'projectKey'>,
) {
  const isLive = db.prepare(IS_LIVE).pluck()
  const hasOrphans = db.prepare(HAS_ORPHANS).pluck()
  const markOrphan = db.prepare(MARK_ORPHAN)
  const adoptOrphans = db.prepare(ADOPT_ORPHANS).raw()
  /** The starts of the current batch, by keyOf: exporters send children before their parents. */
  let expected: ReadonlySet<string> = new Set()
  /** Calls whose parent is expected in the batch. */
  let expecting: { readonly call_key: Key; readonly call: StartedCall }[] = []
  /** Whether parents outside the batch are stored, by keyOf: siblings have the same. */
  const found = new Map<string, boolean>()

  function isMissing(project_id: string, parent_id: string): boolean {
    const parent = { project_key: keys.projectKey(project_id), packed_id: packId(parent_id) }
    return isLive.get(parent) === 0
  }

  function adopt({ project_id, id }: StartedCall): void {
    const parent = { project_key: keys.projectKey(project_id), packed_id: packId(id) }
    if (hasOrphans.get(parent) === 0) return
    for (const row of adoptOrphans.all(parent)) {
      const [call_key, startedAtUs] = row as [number, number]
      hours.reroot(project_id, call_key, startedAtUs, false)
    }
  }

  return {
    /** Whether a new start is an orphan, except that its parent is awaited until the end of the batch. */
    isOrphan({ project_id, parent_id }: StartedCall): boolean {
      if (parent_id === null) return false
      if (expected.size === 0) return isMissing(project_id, parent_id)
      const key = keyOf({ project_id, id: parent_id })
      if (expected.has(key)) return false
      const known = found.get(key)
      if (known !== undefined) return !known
      const isOrphan = isMissing(project_id, parent_id)
      found.set(key, !isOrphan)
      return isOrphan
    },

    /** Settles the calls around a start that was stored and is not deleted. */
    settle(call_key: Key, call: StartedCall): void {
      adopt(call)
      const { project_id, parent_id } = call
      if (expected.size === 0 || parent_id === null) return
      if (expected.has(keyOf({ project_id, id: parent_id }))) expecting.push({ call_key, call })
    },

    /** Runs the writes of a batch; children in it wait for their parents. */
    inBatch<Result>(batch: readonly CallParts[], write: () => Result): Result {
      expected = new Set(batch.flatMap(({ start }) => (start ? [keyOf(start)] : [])))
      expecting = []
      found.clear()
      try {
        const result = write()
        for (const { call_key, call } of expecting) {
          const { project_id, parent_id, started_at_us } = call
          // The parent was stored; or refused, because it differs; or deleted.
          if (parent_id === null || !isMissing(project_id, parent_id)) continue
          markOrphan.run({ call_key })
          hours.reroot(project_id, call_key, started_at_us, true)
        }
        return result
      } finally {
        expected = new Set()
      }
    },
  }
}

/** A call that statistics count. */
type CountedCall = Omit<EntryCall, 'is_root'>

export function toEntryCall(call: CountedCall, is_root: boolean): EntryCall {
  const { started_at_us, op_name, svc_user_id, svc_run_id, end_user_id } = call
  return { started_at_us, is_root, op_name, svc_user_id, svc_run_id, end_user_id }
}

/** Whether a stored call is a root of what there is. */
export function isRoot({ parent_id, is_orphan }: CallRow): boolean {
  return parent_id === null || is_orphan === 1
}

/** Whether statistics count a call that is not deleted: only if it was started. */
export function isCounted(row: CallRow): row is CallRow & CountedCall {
  return row.started_at_us !== null && row.op_name !== null
}
