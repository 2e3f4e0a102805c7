/** Deletes calls with all descendants: a deletion is a row that every read checks. */
import type { CallDeletion } from '../../api/calls/calls.ts'
import type { ClickHouse } from '../db/client.ts'
import type { Inserts } from '../db/inserts.ts'
import { findStates, partsOf } from './call-lookups.ts'
import { SELECT_CHILDREN, SELECT_NAMES } from './calls.sql.ts'

/** @returns how many were deleted now */
export async function deleteCalls(
  db: ClickHouse,
  { project_id, ids, deleted_at_us }: CallDeletion,
  insert: Inserts['insert'],
): Promise<number> {
  const doomed = new Set(ids)
  let frontier = [...doomed]
  while (frontier.length > 0) {
    const next: string[] = []
    for (const part of partsOf(frontier)) {
      const children = await db.read<{ id: string }>(SELECT_CHILDREN, { project_id, ids: part })
      for (const { id } of children) if (!doomed.has(id)) next.push(id)
    }
    for (const id of next) doomed.add(id)
    frontier = [...new Set(next)]
  }
  const named = [...doomed].map((id) => ({ project_id, id }))
  const [states, renamed] = await Promise.all([
    findStates(db, named, { withDeleted: true }),
    findNamed(db, project_id, [...doomed]),
  ])
  const rows = named.flatMap((name) => {
    const state = states.get(`${project_id}/${name.id}`)
    const isKnown = state && (state.start || state.endHash !== null || renamed.has(name.id))
    return isKnown && !state.isDeleted ? [{ ...name, deleted_at_us }] : []
  })
  await insert('call_deletions', rows)
  return rows.length
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
