/**
 * What happened in an hour since its pieces were built, as columns that the reader keeps: a poll reads only
 * what came since the last one, however many calls run.
 */

import type { Connection } from '../../db/connection.ts'
import { createGrowingHour, type GrowingHour, HOUR_ROWS_MAX } from './hour-columns.ts'
import { addChanges } from './hour-entries.ts'
import { addRows, type HourId } from './hour-rows.ts'
import { SELECT_CHANGES } from './segments.sql.ts'

/** Limit: entries and removed calls of all hours that a thread keeps; some 60 bytes each. */
const ENTRIES_MAX = HOUR_ROWS_MAX
/** Limit: rows that columns begin with; to read them takes half a second, in which nobody else has the thread. */
const BEGUN_ROWS_MAX = 2 ** 17
/** Limit: hours that a thread keeps. */
const HOURS_MAX = 256

interface LiveHour {
  /** null when it does not fit into columns. */
  readonly columns: GrowingHour | null
  readonly generation: number
  /** What it holds begins behind this revision; null: it holds all, read from the rows. */
  readonly after: number | null
  readonly revision: number
}

/** The state of an hour as `stats_hours` tells it. */
export interface HourState extends HourId {
  readonly hour_key: number
  /** Raised by each change. */
  readonly revision: number
  /** Raised when what was built is of no use any more. */
  readonly generation: number
  /** What the pieces hold; null when they hold nothing that can be used. */
  readonly built_revision: number | null
  readonly pieces: number
}

const hoursByConnection = new WeakMap<Connection, Map<number, LiveHour>>()

/**
 * What the pieces of an hour do not hold, as the transaction sees it; null when it does not fit into columns.
 *
 * @throws BrokenSegmentError
 */
export function readLiveHour(
  db: Connection,
  state: HourState,
  checkpoint: () => void,
): GrowingHour | null {
  const hours = hoursByConnection.get(db) ?? new Map<number, LiveHour>()
  hoursByConnection.set(db, hours)
  const known = hours.get(state.hour_key)
  // A read that is cancelled half way must not leave its half behind.
  hours.delete(state.hour_key)
  const { generation, built_revision: after, revision } = state
  const isUsable = known?.generation === generation && known.after === after
  const live = isUsable ? known : begin(db, state, checkpoint)
  if (live.columns && live.revision < revision) {
    for (const { entries_json } of readChanges(db, state.hour_key, live.revision)) {
      addChanges(live.columns, entries_json)
      checkpoint()
      // It does not fit any more, whatever follows.
      if (!live.columns.isFit()) break
    }
  }
  const columns = live.columns?.isFit() ? live.columns : null
  hours.set(state.hour_key, { columns, generation, after, revision })
  limit(hours, state.hour_key)
  return columns
}

/** What commits did in an hour behind a revision, in order. */
export function readChanges(
  db: Connection,
  hour_key: number,
  after_revision: number,
): IterableIterator<{ revision: number; entries_json: string }> {
  return db.prepare(SELECT_CHANGES).iterate({ hour_key, after_revision }) as never
}

function begin(db: Connection, state: HourState, checkpoint: () => void): LiveHour {
  const { generation, built_revision: after } = state
  const columns = createGrowingHour()
  if (after !== null) return { columns, generation, after, revision: after }
  const isFull = () => Math.max(columns.count, columns.usageRows()) >= BEGUN_ROWS_MAX
  const rest = addRows(db, state, columns, null, isFull, checkpoint)
  return { columns: rest ? null : columns, generation, after, revision: state.revision }
}

/** Lets the hours go that were not read for the longest time; the last one stays. */
function limit(hours: Map<number, LiveHour>, lastKey: number): void {
  const sizeOf = ({ columns }: LiveHour) => (columns ? columns.count + columns.removed().size : 0)
  let size = 0
  for (const hour of hours.values()) size += sizeOf(hour)
  for (const [key, hour] of hours) {
    if ((size <= ENTRIES_MAX && hours.size <= HOURS_MAX) || key === lastKey) return
    hours.delete(key)
    size -= sizeOf(hour)
  }
}
