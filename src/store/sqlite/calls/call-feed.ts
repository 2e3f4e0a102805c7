/** The feed over SQLite: keys of calls rise in the order of commits, since one thread writes. */
import type { CallFeed, FeedCall } from '../../api/calls/call-feed.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import { FIND_LAST_KEY, FIND_PART_END, SELECT_PART } from './call-feed.sql.ts'

/** Limit: calls that one read looks at, which takes a few milliseconds. */
const PART_MAX = 500

interface PositionRow {
  readonly position: number | null
}

/** @param db - for reads on this thread */
export function createCallFeed(db: Connection): CallFeed {
  const findLast = db.prepare(FIND_LAST_KEY)
  const findEnd = db.prepare(FIND_PART_END)
  const selectPart = db.prepare(SELECT_PART)
  return {
    findEnd: async () => orStoreError(() => (findLast.get() as PositionRow).position ?? 0),
    readFeed: async (after, projects) =>
      orStoreError(() => {
        const { position } = findEnd.get({ after, limit: PART_MAX }) as PositionRow
        if (position === null) return { calls: [], position: after }
        const project_ids = JSON.stringify(projects)
        const calls = selectPart.all({ after, until: position, project_ids }) as FeedCall[]
        return { calls, position }
      }),
  }
}
