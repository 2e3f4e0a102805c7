/**
 * Reads the hours of a window for statistics: from their segments and the changes since; everything else comes from the
 * rows. Runs in a reader, each hour in one snapshot.
 */

import type { StatsQuery } from '../../api/stats/stats.ts'
import type { HourParts } from '../../base/stats/sums.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint } from '../read/read-job.ts'
import type { GrowingHour } from './segments/hour-columns.ts'
import { type HourFilter, toHourFilter } from './segments/hour-filter.ts'
import { createHourCutter, hoursOf } from './segments/hour-parts.ts'
import { findRemoved } from './segments/hour-removals.ts'
import { type HourState, readLiveHour } from './segments/live-hours.ts'
import {
  BrokenSegmentError,
  correctStored,
  type HourView,
  type StoredHour,
} from './segments/segment.ts'
import { SELECT_HOURS } from './segments/segments.sql.ts'
import { createSegmentReader, type SegmentReader } from './segments/stored-hours.ts'

/** Limit: hours of one query without segments that are read into columns; of more, only the last ones are. */
const LIVE_HOURS_MAX = 4
/** Limit: starts and ends of an hour without segments whose rows take less time than its changes. */
const SCANNED_ENTRIES_MAX = 64
/** Limit: attempts that a broken column may fail; then all is read from the rows. */
const ATTEMPTS_MAX = 3

/** Unbuilt hours, and segments with removed calls, have only columns. */
const NOTHING_READY: Omit<HourView, 'columns' | 'removed'> = {
  differs: true,
  slots: () => null,
  slotRuns: () => ({ values: new Uint8Array(), bounds: [] }),
  groups: () => null,
  roots: () => null,
}

/** The calls of a query, and where its buckets begin. */
type HoursQuery = Pick<StatsQuery, 'project_id' | 'filter' | 'startUs' | 'endUs' | 'startsUs'>

/** What adds up the hours of a query. */
export interface HourSink<Sums, Result> {
  /** Whether only rows have what the query needs. */
  readonly needsRows: boolean
  /** Whether the sums of the hours of a bucket refer to their segments until the bucket is left. */
  readonly holdsBuckets: boolean
  /** Sums up an hour; returns null when its rows must be read. @throws BrokenSegmentError */
  sum(views: readonly HourView[], parts: HourParts, filter: HourFilter): Sums | null
  /** @throws BrokenSegmentError; the sink is unusable then */
  add(sums: Sums, parts: HourParts): void
  /** Marks the earlier buckets as complete. */
  leaveBuckets(bucket: number): void
  /** Adds the rows of a window, called with windows in time order; returns whether it paused. */
  scanRows(window: Pick<StatsQuery, 'project_id' | 'startUs' | 'endUs'>): Generator<void, boolean>
  finish(): Result
}

/**
 * Reads the hours of a query. It pauses between hours, and between parts of hours that it reads from rows: each hour, or
 * each such part, is read in one snapshot.
 *
 * @param createSink - called again when a segment turns out to be broken
 * @returns the result, and the hours whose segments turned out to be broken
 * @throws ApiError validation_failed
 */
export function* readHours<Sums, Result>(
  db: Connection,
  query: HoursQuery,
  checkpoint: Checkpoint,
  createSink: () => HourSink<Sums, Result>,
): Generator<void, { readonly result: Result; readonly broken: readonly number[] }> {
  const broken = new Set<number>()
  for (let attempt = 1; ; attempt++) {
    const segments = createSegmentReader(db)
    try {
      const sink = createSink()
      const trust = { broken, isFromRows: attempt > ATTEMPTS_MAX || sink.needsRows }
      yield* addHours(db, query, { segments, checkpoint }, trust, sink)
      return { result: sink.finish(), broken: [...broken] }
    } catch (error) {
      if (!(error instanceof BrokenSegmentError)) throw error
    } finally {
      segments.close()
    }
  }
}

/** The readers that a job uses. */
interface Reading {
  readonly segments: SegmentReader
  readonly checkpoint: Checkpoint
}

/** Which segments may be used. */
interface Trust {
  /** Hours whose segments turned out to be broken; the job adds to it. */
  readonly broken: Set<number>
  /** Reads no segment. */
  readonly isFromRows: boolean
}

function* addHours<Sums>(
  db: Connection,
  query: HoursQuery,
  reading: Reading,
  trust: Trust,
  sink: HourSink<Sums, unknown>,
): Generator<void> {
  const { project_id, startUs, endUs, startsUs } = query
  const { segments, checkpoint } = reading
  const filter = toHourFilter(project_id, query.filter)
  if (!filter || trust.isFromRows) {
    yield* sink.scanRows(query)
    return
  }
  const cut = createHourCutter(startsUs, startUs, endUs)
  let { from } = hoursOf(startUs, endUs)
  let bucket = 0
  // Reads the hours again after each pause: their segments may be gone.
  for (let isPaused = true; isPaused; ) {
    isPaused = false
    const hours = selectHours(db, query, from)
    const isScanned = findScanned(hours)
    const openViews = createViews(db, isScanned, reading)
    for (let at = 0; at < hours.length; at++) {
      const row = hours[at] as HourState
      const parts = cut(row.hour)
      if (parts.firstBucket > bucket) {
        bucket = parts.firstBucket
        sink.leaveBuckets(bucket)
        // Only the previous hour can reach into this bucket; earlier ones have ended before it.
        segments.leave()
      } else if (!sink.holdsBuckets) segments.leave()
      if (!addPieces(row, parts, { openViews, filter, sink, trust })) {
        // One statement reads this hour and those behind it that have no segments either.
        let last = parts
        while (isScanned(hours[at + 1])) {
          at += 1
          last = cut((hours[at] as HourState).hour)
        }
        const window = { startUs: timesOf(parts).startUs, endUs: timesOf(last).endUs }
        isPaused = yield* sink.scanRows({ project_id, ...window })
      }
      from = (hours[at] as HourState).hour + 1
      if (!isPaused && checkpoint()) {
        yield
        isPaused = true
      }
      if (isPaused) break
    }
  }
}

/** The sink and readers for adding an hour. */
interface Adding<Sums> {
  readonly openViews: (state: HourState) => HourView[] | null
  readonly filter: HourFilter
  readonly sink: HourSink<Sums, unknown>
  readonly trust: Trust
}

/**
 * Adds an hour from its segments.
 *
 * @returns whether the hour was added; false when its rows must be read
 * @throws BrokenSegmentError when the sink already holds a part of it
 */
function addPieces<Sums>(
  row: HourState,
  parts: HourParts,
  { openViews, filter, sink, trust }: Adding<Sums>,
): boolean {
  let sums: Sums | null = null
  try {
    const views = trust.broken.has(row.hour_key) ? null : openViews(row)
    sums = views && sink.sum(views, parts, filter)
    if (sums === null) return false
  } catch (error) {
    if (!(error instanceof BrokenSegmentError)) throw error
    trust.broken.add(row.hour_key)
    return false
  }
  try {
    sink.add(sums, parts)
    return true
  } catch (error) {
    if (error instanceof BrokenSegmentError) trust.broken.add(row.hour_key)
    throw error
  }
}

function selectHours(
  db: Connection,
  { project_id, startUs, endUs }: HoursQuery,
  from_hour: number,
) {
  const { to: to_hour } = hoursOf(startUs, endUs)
  return db.prepare(SELECT_HOURS).all({ project_id, from_hour, to_hour }) as HourState[]
}

function timesOf({ hourUs, bounds }: HourParts): { startUs: number; endUs: number } {
  return { startUs: hourUs + (bounds[0] ?? 0), endUs: hourUs + (bounds.at(-1) ?? 0) }
}

/** Returns whether the rows of an hour without segments are read: there are few, or its changes are not known. */
function findScanned(hours: readonly HourState[]): (state: HourState | undefined) => boolean {
  const withoutChanges = hours.filter(({ built_revision }) => built_revision === null)
  const live = new Set(withoutChanges.slice(-LIVE_HOURS_MAX))
  return (state) => {
    if (state?.built_revision === null) return !live.has(state)
    return state?.pieces === 0 && state.pending <= SCANNED_ENTRIES_MAX
  }
}

/** Returns an opener of hours: null when the rows of an hour must be read. Its views throw BrokenSegmentError. */
function createViews(
  db: Connection,
  isScanned: (state: HourState) => boolean,
  { segments, checkpoint }: Reading,
) {
  return function openViews(state: HourState): HourView[] | null {
    const { built_revision, revision } = state
    if (isScanned(state)) return null
    const views: StoredHour[] = []
    if (built_revision !== null) {
      const stored = segments.open(state).map(({ hour }) => hour)
      if (stored.some(({ head }) => head.isUnfit)) return null
      views.push(...stored)
      if (built_revision === revision) return views
    }
    const columns = readLiveHour(db, state, checkpoint)
    if (!columns) return null
    const removed = findRemoved(columns.keys(), columns.removed(), false)
    return [...views.map((view) => correct(view, columns)), { columns, removed, ...NOTHING_READY }]
  }
}

/** Returns a view of a segment with the corrections of later changes. @throws BrokenSegmentError */
function correct(stored: StoredHour, later: GrowingHour): HourView {
  const corrected = correctStored(stored, later)
  if (!corrected) return stored
  const { groups, roots } = NOTHING_READY
  // Without removed calls, sums over all calls stay right.
  return corrected.removed.length === 0
    ? { ...stored, ...corrected, groups, roots }
    : { ...corrected, ...NOTHING_READY }
}
