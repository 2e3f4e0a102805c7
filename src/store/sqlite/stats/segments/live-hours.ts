/**
 * Caches the changes of an hour since its segments were built, as columns in the reader: a poll reads only the changes
 * since the last poll, however many calls run.
 */

import type { Connection } from '../../db/connection.ts'
import { createGrowingHour, type GrowingHour, HOUR_ROWS_MAX } from './hour-columns.ts'
import { addChanges } from './hour-entries.ts'
import { addRows, type HourId } from './hour-rows.ts'
import { SELECT_CHANGES } from './segments.sql.ts'

/** Limit: entries and corrected calls of all hours that a thread caches; some 60 bytes each. */
const ENTRIES_MAX = HOUR_ROWS_MAX
/** Limit: rows that new columns are read from; reading them takes half a second without a pause. */
const BEGUN_ROWS_MAX = 2 ** 17
/** Limit: hours that a thread caches. */
const HOURS_MAX = 256

interface LiveHour {
  /** Null when the hour does not fit into columns. */
  readonly columns: GrowingHour | null
  readonly generation: number
  /** The columns hold the changes after this revision; null: all calls, read from the rows. */
  readonly after: number | null
  readonly revision: number
}

/** The state of an hour, from its row in `stats_hours`. */
export interface HourState extends HourId {
  readonly hour_key: number
  /** Raised by each change. */
  readonly revision: number
  /** Raised when the segments become invalid. */
  readonly generation: number
  /** The segments hold the changes up to this revision; null when they are unusable. */
  readonly built_revision: number | null
  readonly pieces: number
  /** Entries of the changes that no segment holds. */
  readonly pending: number
}

const hoursByConnection = new WeakMap<Connection, Map<number, LiveHour>>()

/**
 * Returns what the segments of an hour do not hold, as the transaction sees it; null when it does not fit into columns.
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
  // A cancelled read must not leave half of its columns in the cache.
  hours.delete(state.hour_key)
  const { generation, built_revision: after, revision } = state
  const isUsable = known?.generation === generation && known.after === after
  const live = isUsable ? known : begin(db, state, checkpoint)
  if (live.columns && live.revision < revision) {
    for (const { entries_json } of readChanges(db, state.hour_key, live.revision)) {
      addChanges(live.columns, entries_json)
      checkpoint()
      // No later change can make it fit again.
      if (!live.columns.isFit()) break
    }
  }
  const columns = live.columns?.isFit() ? live.columns : null
  hours.set(state.hour_key, { columns, generation, after, revision })
  limit(hours, state.hour_key)
  return columns
}

/** Returns the changes of an hour after a revision, in order. */
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

/** Evicts the least recently read hours, but never the last one. */
function limit(hours: Map<number, LiveHour>, lastKey: number): void {
  const sizeOf = ({ columns }: LiveHour) =>
    columns ? columns.count + columns.removed().size + columns.unrooted().size : 0
  let size = 0
  for (const hour of hours.values()) size += sizeOf(hour)
  for (const [key, hour] of hours) {
    if ((size <= ENTRIES_MAX && hours.size <= HOURS_MAX) || key === lastKey) return
    hours.delete(key)
    size -= sizeOf(hour)
  }
}
