/**
 * Records which calls of a batch are orphans: their parent is neither stored nor in the batch. When the parent comes, they
 * are adopted. What two processes do not see of each other is found by the reads.
 */
import { keyOf } from '../../../../domain/calls/call-state.ts'
import type { CallStart } from '../../../../domain/calls/new-call.ts'
import type { Row } from '../../db/client.ts'
import type { FoundStates, Orphan } from '../call-lookups.ts'

/** Rows of call_orphans: those to insert before the calls, and those after, since a parent may fail to be stored. */
interface OrphanRows {
  readonly found: Row[]
  readonly adopted: Row[]
}

/** @param starts - those that the batch stores */
export function toOrphanRows(
  starts: readonly CallStart[],
  { parents, orphans }: Pick<FoundStates, 'parents' | 'orphans'>,
): OrphanRows {
  const stored = new Set(starts.map(keyOf))
  const isMissing = ({ project_id, parent_id }: CallStart) => {
    if (parent_id === null) return false
    const key = keyOf({ project_id, id: parent_id })
    return !stored.has(key) && !parents.has(key)
  }
  return {
    found: starts.filter(isMissing).map((start) => toRow(start, start.parent_id ?? '', 0)),
    adopted: orphans
      .filter(({ project_id, parent_id }) => stored.has(keyOf({ project_id, id: parent_id })))
      .map((orphan) => toRow(orphan, orphan.parent_id, 1)),
  }
}

function toRow(
  { project_id, id, started_at_us }: Pick<Orphan, 'project_id' | 'id' | 'started_at_us'>,
  parent_id: string,
  is_adopted: 0 | 1,
): Row {
  return { project_id, parent_id, id, started_at_us, is_adopted }
}
