/** The read job that lists threads: walks the calls of threads in parts and can pause in between. */
import { createThreadList, type ThreadList } from '../../../domain/threads/thread-list.ts'
import {
  type ThreadListing,
  type ThreadSums,
  wantsNewest,
} from '../../../domain/threads/thread-sums.ts'
import { type PackedId, packId } from '../calls/columns/id-columns.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { findNewestThreads } from './newest-threads.ts'
import { SELECT_TURNS, SELECT_TURNS_OF_THREAD } from './threads.sql.ts'

/** Limit: calls of one statement. */
const PART_CALLS = 4096

interface TurnRow {
  readonly call_key: number
  readonly place: PackedId
  readonly thread_id: string
  readonly id: string
  readonly is_turn: 0 | 1
  readonly started_at_us: number
  readonly ended_at_us: number | null
}

export const listThreads: ReadJob<ThreadListing, ThreadSums[]> = function* (
  db,
  listing,
  checkpoint,
) {
  if (wantsNewest(listing)) {
    const newest = yield* listNewest(db, listing, checkpoint)
    if (newest !== null) return newest
  }
  const { project_id, thread_ids } = listing
  const list = createThreadList(listing)
  if (thread_ids === null) {
    yield* addCalls(list, walkParts(db, SELECT_TURNS, { project_id, place: '' }, checkpoint))
  }
  for (const thread_id of thread_ids ?? []) {
    const parameters = { project_id, place: packId(thread_id) }
    yield* addCalls(list, walkParts(db, SELECT_TURNS_OF_THREAD, parameters, checkpoint))
  }
  return list.page()
}

/** Sums up no more threads than the page needs; null when the newest turns do not show which these are. */
function* listNewest(
  db: Connection,
  listing: ThreadListing,
  checkpoint: Checkpoint,
): Generator<void, ThreadSums[] | null> {
  const { project_id } = listing
  const wanted = listing.offset + listing.limit
  const newest = findNewestThreads(db, listing)
  if (newest === null) return null
  const { threads, othersUpdated } = newest
  const list = createThreadList(listing)
  for (const { place, last_updated } of threads) {
    if (list.countUpdatedAfter(last_updated) >= wanted) return list.page()
    const walk = walkParts(db, SELECT_TURNS_OF_THREAD, { project_id, place }, checkpoint)
    yield* addCalls(list, walk)
    if (checkpoint()) yield
  }
  const isEnough = othersUpdated === null || list.countUpdatedAfter(othersUpdated) >= wanted
  return isEnough ? list.page() : null
}

function* addCalls(list: ThreadList, walk: Iterable<TurnRow[] | null>): Generator<void, void> {
  for (const part of walk) {
    for (const { thread_id, is_turn, ...turn } of part ?? []) {
      list.add(thread_id, is_turn === 1 ? turn : null)
    }
    if (part === null) yield
  }
}

/** Yields calls in parts; null when the job must pause. */
function* walkParts(
  db: Connection,
  statement: string,
  parameters: { readonly project_id: string; readonly place: PackedId },
  checkpoint: Checkpoint,
): Generator<TurnRow[] | null, void> {
  const select = db.prepare(statement)
  let behind = { place: parameters.place, call_key: 0 }
  while (true) {
    const rows = select.all({ ...parameters, ...behind, limit: PART_CALLS }) as TurnRow[]
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PART_CALLS) return
    behind = { place: last.place, call_key: last.call_key }
    if (checkpoint()) yield null
  }
}
