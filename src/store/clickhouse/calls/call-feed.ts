/** The feed over ClickHouse: rows record when they were stored, by the clock of the server that took them. */
import type { CallFeed, FeedCall } from '../../api/calls/call-feed.ts'
import type { ClickHouse } from '../db/client.ts'
import { READ_END, SELECT_PART } from './call-feed.sql.ts'

/** Limit: calls of one read, besides others of the last time. */
const PART_MAX = 2_000
/** A row may be seen so much later than its time: an insert takes at most 10 s, and clocks of a cluster differ. */
const SETTLE_US = 15_000_000

export function createCallFeed(db: ClickHouse): CallFeed {
  async function readClock(): Promise<number> {
    const [row] = await db.read<{ us: number }>(READ_END, {})
    return Number(row?.us ?? 0)
  }

  return {
    findEnd: readClock,
    async readFeed(after, project_ids) {
      const until = (await readClock()) - SETTLE_US
      if (until <= after) return { calls: [], position: after }
      const window = { after, until, project_ids, limit: PART_MAX }
      const calls = await db.read<FeedCall>(SELECT_PART, window)
      const last = calls.at(-1)
      const isWhole = last === undefined || calls.length < PART_MAX
      return { calls, position: isWhole ? until : Number(last.position) }
    },
  }
}
