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
import { SELECT_NEWEST_TURNS, SELECT_TURNS, SELECT_TURNS_OF_THREAD } from './threads.sql.ts'

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

/** Limit: turns that are read, at 1 us each. A listing that needs more walks all threads. */
const TURNS_MAX = 32_768
/** How many threads are looked at for each that is wanted, where a filter may refuse some. */
const FILTERED_FACTOR = 4
/** Turns of one statement. */
const PART_TURNS = 4096

interface TurnPosition {
  readonly call_key: number
  readonly place: PackedId
  readonly last_updated: number
}

interface NewestThreads {
  /** The last updated first. Times in microseconds. */
  readonly threads: readonly Pick<TurnPosition, 'place' | 'last_updated'>[]
  /** When others were updated last, or before; null: there are none. */
  readonly othersUpdated: number | null
}

/**
 * Returns the threads of a listing and possibly others; null if the newest turns do not tell them. All parts are of one
 * moment: between two, a turn that ends would move out of sight.
 */
export function findNewestThreads(db: Connection, listing: ThreadListing): NewestThreads | null {
  const { project_id, after_us, before_us, offset, limit } = listing
  const isFiltered = after_us !== Number.NEGATIVE_INFINITY || before_us !== Number.POSITIVE_INFINITY
  const wanted = (offset + limit) * (isFiltered ? FILTERED_FACTOR : 1)
  const select = db.prepare(SELECT_NEWEST_TURNS)
  const threads: TurnPosition[] = []
  const seen = new Set<string>()
  let behind: TurnPosition = {
    place: '',
    call_key: 0,
    last_updated: Math.min(before_us, Number.MAX_SAFE_INTEGER),
  }
  for (let turns = 0; turns < TURNS_MAX; turns += PART_TURNS) {
    const rows = select.all({ project_id, ...behind, limit: PART_TURNS }) as TurnPosition[]
    for (const row of rows) {
      const name = nameOf(row.place)
      if (seen.has(name)) continue
      seen.add(name)
      threads.push(row)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PART_TURNS) return { threads, othersUpdated: null }
    // Those of the same time as the last one that is wanted may come before it.
    const end = threads[wanted - 1]
    if (end !== undefined && last.last_updated < end.last_updated) {
      return { threads, othersUpdated: last.last_updated }
    }
    behind = last
  }
  return threads.length < offset + limit ? null : { threads, othersUpdated: behind.last_updated }
}

/** Differs for a text and for bytes. */
function nameOf(place: PackedId): string {
  return typeof place === 'string' ? `text ${place}` : `bytes ${place.toString('latin1')}`
}
