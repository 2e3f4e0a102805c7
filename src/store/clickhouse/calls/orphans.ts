/**
 * Records which calls of a batch are orphans: their parent is neither stored nor in the batch. When the parent comes, they
 * are adopted. What two processes do not see of each other is found by the reads.
 */
import type { CallStart } from '../../../domain/calls/new-call.ts'
import type { ClickHouse, Row } from '../db/client.ts'
import { partsOf } from './call-lookups.ts'
import { SELECT_ADOPTED, SELECT_LIVE } from './calls.sql.ts'

interface Adopted {
  readonly parent_id: string
  readonly id: string
  readonly started_at_us: number
}

/** Rows of call_orphans: those to insert before the calls, and those after, since a parent may fail to be stored. */
interface OrphanRows {
  readonly found: Row[]
  readonly adopted: Row[]
}

/** @param starts - those that the batch stores */
export async function findOrphans(
  db: Pick<ClickHouse, 'read'>,
  starts: readonly CallStart[],
): Promise<OrphanRows> {
  const projects = Map.groupBy(starts, ({ project_id }) => project_id)
  const rows = [...projects].map(async ([project_id, ofProject]) => {
    const [found, adopted] = await Promise.all([
      findNew(db, project_id, ofProject),
      findAdopted(db, project_id, ofProject),
    ])
    return { found, adopted }
  })
  const all = await Promise.all(rows)
  return {
    found: all.flatMap(({ found }) => found),
    adopted: all.flatMap(({ adopted }) => adopted),
  }
}

async function findNew(
  db: Pick<ClickHouse, 'read'>,
  project_id: string,
  starts: readonly CallStart[],
): Promise<Row[]> {
  const ids = new Set(starts.map(({ id }) => id))
  const below = starts.filter(({ parent_id }) => parent_id !== null && !ids.has(parent_id))
  const parents = [...new Set(below.map(({ parent_id }) => parent_id as string))]
  const found = await Promise.all(
    partsOf(parents).map((part) => db.read<{ id: string }>(SELECT_LIVE, { project_id, ids: part })),
  )
  const live = new Set(found.flat().map(({ id }) => id))
  return below
    .filter(({ parent_id }) => !live.has(parent_id as string))
    .map(({ parent_id, id, started_at_us }) => ({
      project_id,
      parent_id,
      id,
      started_at_us,
      is_adopted: 0,
    }))
}

async function findAdopted(
  db: Pick<ClickHouse, 'read'>,
  project_id: string,
  starts: readonly CallStart[],
): Promise<Row[]> {
  const ids = [...new Set(starts.map(({ id }) => id))]
  const found = await Promise.all(
    partsOf(ids).map((part) => db.read<Adopted>(SELECT_ADOPTED, { project_id, ids: part })),
  )
  return found.flat().map((orphan) => ({ project_id, ...orphan, is_adopted: 1 }))
}
