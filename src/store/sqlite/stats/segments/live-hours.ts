/**
 * The columns of hours that change, kept by the thread that reads them: a poll reads only the rows that
 * have come since the last one. A call that has ended never changes, except that it is deleted.
 */

import type { Connection } from '../../db/connection.ts'
import { type GrowingHour, HOUR_ROWS_MAX } from './hour-columns.ts'
import { extendHour, type HourId, type LoadedHour, loadHour } from './hour-rows.ts'
import { SELECT_LAST_CALL_KEY } from './segments.sql.ts'

/** Limit: calls of all hours that a thread keeps; some 60 bytes each. */
const CALLS_MAX = HOUR_ROWS_MAX
/** Limit: hours that a thread keeps. */
const HOURS_MAX = 256
/** More new rows than this, of all projects, are not walked through to find those of an hour. */
const NEW_ROWS_MAX = 200_000

interface LiveHour {
  /** null when it does not fit into columns. */
  readonly loaded: LoadedHour | null
  readonly revision: number
  readonly rewrites: number
  /** The last row of all that it has seen. */
  readonly lastKey: number
}

/** The state of an hour as `stats_hours` tells it. */
export interface HourState extends HourId {
  readonly hour_key: number
  readonly revision: number
  readonly rewrites: number
}

const hoursByConnection = new WeakMap<Connection, Map<number, LiveHour>>()

/** The columns of an hour as the transaction sees it; null when it does not fit into columns. */
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
  const live = known?.revision === state.revision ? known : refresh(db, state, known, checkpoint)
  hours.set(state.hour_key, live)
  limit(hours, state.hour_key)
  return live.loaded?.columns ?? null
}

function refresh(
  db: Connection,
  state: HourState,
  known: LiveHour | undefined,
  checkpoint: () => void,
): LiveHour {
  const { revision, rewrites } = state
  const lastKey = db.prepare(SELECT_LAST_CALL_KEY).pluck().get() as number
  const isNear = known && lastKey - known.lastKey <= NEW_ROWS_MAX
  if (known?.rewrites !== rewrites || (known.loaded && !isNear)) {
    const loaded = loadHour(db, state, checkpoint)
    return { loaded: fitting(loaded), revision, rewrites, lastKey }
  }
  if (known.loaded) extendHour(db, state, known.loaded, known.lastKey, checkpoint)
  return { loaded: fitting(known.loaded), revision, rewrites, lastKey }
}

function fitting(loaded: LoadedHour | null): LoadedHour | null {
  return loaded?.columns.isFit() ? loaded : null
}

/** Lets the hours go that were not read for the longest time; the last one stays. */
function limit(hours: Map<number, LiveHour>, lastKey: number): void {
  let calls = 0
  for (const { loaded } of hours.values()) calls += loaded?.columns.count ?? 0
  for (const [key, { loaded }] of hours) {
    if ((calls <= CALLS_MAX && hours.size <= HOURS_MAX) || key === lastKey) return
    hours.delete(key)
    calls -= loaded?.columns.count ?? 0
  }
}
