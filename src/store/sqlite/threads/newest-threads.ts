/** Finds the threads that were updated last, without reading the others. */
import type { ThreadListing } from '../../../domain/threads/thread-sums.ts'
import type { PackedId } from '../calls/columns/id-columns.ts'
import type { Connection } from '../db/connection.ts'
import { SELECT_NEWEST_TURNS } from './threads.sql.ts'

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
