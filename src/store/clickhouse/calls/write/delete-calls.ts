/** Deletes calls with all descendants: a deletion is a row that every read checks. */
import { keyOf } from '../../../../domain/calls/call-state.ts'
import type { CallDeletion } from '../../../api/calls/calls.ts'
import type { ClickHouse } from '../../db/client.ts'
import type { Inserts } from '../../db/inserts.ts'
import { partsOf } from '../../db/reads.ts'
import type { HourChanges } from '../../hours/hour-changes.ts'
import { findStates } from '../call-lookups.ts'
import type { KnownStart } from '../call-rows.ts'
import { SELECT_CHILDREN, SELECT_NAMES } from '../calls.sql.ts'
import { findParents } from './reported-parents.ts'

/** @returns the ids that were deleted now */
export async function deleteCalls(
  db: ClickHouse,
  { project_id, ids, deleted_at_us }: CallDeletion,
  insert: Inserts['insert'],
  changes: Pick<HourChanges, 'begin'>,
): Promise<readonly string[]> {
  // Only from known calls: an unknown parent must not take its children along.
  const doomed = await findKnown(db, project_id, [...new Set(ids)])
  let frontier = [...doomed.keys()]
  while (frontier.length > 0) {
    const next = new Set<string>()
    for (const part of partsOf(frontier)) {
      const children = await db.read<{ id: string }>(SELECT_CHILDREN, { project_id, ids: part })
      for (const { id } of children) if (!doomed.has(id)) next.add(id)
    }
    for (const [id, call] of await findKnown(db, project_id, [...next])) doomed.set(id, call)
    frontier = [...next]
  }
  const now = [...doomed].filter(([, { isDeleted }]) => !isDeleted)
  const rows = now.map(([id]) => ({ project_id, id, deleted_at_us }))
  const starts = now.flatMap(([, { known }]) => (known ? [{ ...known, project_id }] : []))
  const parents = () => findParents(db, starts)
  const changed = changes.begin([...starts, ...(await parents())], parents)
  await changed.record()
  await insert('call_deletions', rows, changed.renew)
  changed.end()
  return rows.map(({ id }) => id)
}

interface KnownCall {
  readonly isDeleted: boolean
  /** null: its start is not stored. */
  readonly known: KnownStart | null
}

/** Returns the calls of which anything is stored, deleted ones included. */
async function findKnown(
  db: ClickHouse,
  project_id: string,
  ids: readonly string[],
): Promise<Map<string, KnownCall>> {
  const named = ids.map((id) => ({ project_id, id }))
  const [{ calls }, renamed] = await Promise.all([
    findStates(db, named, { withDeleted: true }),
    findNamed(db, project_id, ids),
  ])
  const known = new Map<string, KnownCall>()
  for (const name of named) {
    const call = calls.get(keyOf(name))
    const { start, end, isDeleted = false } = call?.state ?? {}
    if (!start && !end && !renamed.has(name.id)) continue
    known.set(name.id, { isDeleted, known: call?.known ?? null })
  }
  return known
}

/** Calls that were given a name, which may be their only row. */
async function findNamed(
  db: ClickHouse,
  project_id: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const parts = partsOf(ids).map((part) =>
    db.read<{ id: string }>(SELECT_NAMES, { project_id, ids: part }),
  )
  return new Set((await Promise.all(parts)).flat().map(({ id }) => id))
}
