/** Lists of threads in ClickHouse, summed up in the domain. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { createThreadList } from '../../../domain/threads/thread-list.ts'
import { type ThreadListing, wantsNewest } from '../../../domain/threads/thread-sums.ts'
import type { ThreadStore } from '../../api/threads/threads.ts'
import type { Reads } from '../db/reads.ts'
import { SELECT_NEWEST_THREADS, selectTurns } from './threads.sql.ts'

/** Limit: threads that a statement names. */
const NAMED_MAX = 1000

interface TurnRow {
  readonly thread_id: string
  readonly id: string
  readonly started_at_us: number
  readonly ended_at_us: number | null
}

export function createThreadStore(reads: Reads): ThreadStore {
  return {
    async listThreads(listing, caller) {
      const { project_id } = listing
      const thread_ids = listing.thread_ids ?? (await findNewest(reads, listing, caller))
      const parameters = { project_id, ...(thread_ids ? { thread_ids } : {}) }
      const list = createThreadList(listing)
      const rows = reads.stream<TurnRow>(selectTurns(thread_ids !== null), parameters, caller)
      for await (const part of rows) {
        for (const { thread_id, ...turn } of part) list.add(thread_id, turn)
      }
      return list.page()
    },
  }
}

/** Lets ClickHouse choose the threads of a page, so that no turns of others are sent; null when it has too many. */
async function findNewest(
  reads: Reads,
  listing: ThreadListing,
  caller: ReadCaller,
): Promise<readonly string[] | null> {
  const { project_id, after_us, before_us, offset } = listing
  const limit = offset + listing.limit
  if (!wantsNewest(listing) || limit > NAMED_MAX) return null
  const window = {
    after_us: Math.max(after_us, Number.MIN_SAFE_INTEGER),
    before_us: Math.min(before_us, Number.MAX_SAFE_INTEGER),
  }
  const parameters = { project_id, ...window, limit }
  const rows = await reads.read<Pick<TurnRow, 'thread_id'>>(
    SELECT_NEWEST_THREADS,
    parameters,
    caller,
  )
  return rows.length > NAMED_MAX ? null : rows.map(({ thread_id }) => thread_id)
}
