/**
 * Statistics in SQLite: hours are read from their segments and the changes since; everything else comes from the rows.
 * Runs in a reader, each hour in one snapshot.
 */

import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { renderCallBuckets, renderUsageBuckets } from '../../../domain/stats/stats-view.ts'
import type { StatsQuery, StatsResult, StatsTexts } from '../../api/stats/stats.ts'
import { createStatsTables, type StatsTables } from '../../base/stats/stats-tables.ts'
import type { HourParts, HourSums } from '../../base/stats/sums.ts'
import { toFilterClause } from '../calls/query/calls-filter.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint } from '../read/read-job.ts'
import type { GrowingHour } from './segments/hour-columns.ts'
import { type HourFilter, toHourFilter } from './segments/hour-filter.ts'
import { createHourCutter, hoursOf } from './segments/hour-parts.ts'
import { findRemoved } from './segments/hour-removals.ts'
import { sumHour } from './segments/hour-stats.ts'
import { type HourState, readLiveHour } from './segments/live-hours.ts'
import {
  BrokenSegmentError,
  correctStored,
  type HourView,
  type StoredHour,
} from './segments/segment.ts'
import { SELECT_HOURS } from './segments/segments.sql.ts'
import { createSegmentReader, type SegmentReader } from './segments/stored-hours.ts'
import { createRowScan } from './stats-rows.ts'

/** Limit: hours of one query without segments that are read into columns; of more, only the last ones are. */
const LIVE_HOURS_MAX = 4
/** Limit: attempts that a broken column may fail; then all is read from the rows. */
const ATTEMPTS_MAX = 3
/** Limit: sums of one hour, by part and model; beyond it the rows are read. */
const PART_SUMS_MAX = 500_000

/** Unbuilt hours, and segments with removed calls, have only columns. */
const NOTHING_READY: Omit<HourView, 'columns' | 'removed'> = {
  differs: true,
  slots: () => null,
  slotRuns: () => ({ values: new Uint8Array(), bounds: [] }),
  groups: () => null,
  roots: () => null,
}

/** A result, and the hours whose segments turned out to be broken. */
interface StatsResponse {
  readonly result: StatsResult
  readonly broken: readonly number[]
}

/**
 * The read job. It pauses between hours, and between parts of hours that it reads from rows: each hour, or each such
 * part, is read in one snapshot.
 *
 * @throws ApiError validation_failed
 */
export function* aggregateStats(
  db: Connection,
  query: StatsQuery,
  checkpoint: Checkpoint,
): Generator<void, StatsResponse> {
  const broken = new Set<number>()
  for (let attempt = 1; ; attempt++) {
    const segments = createSegmentReader(db)
    try {
      const isFromRows = attempt > ATTEMPTS_MAX
      const trust = { broken, isFromRows }
      const result = yield* aggregateHours(db, query, { segments, checkpoint }, trust)
      return { result, broken: [...broken] }
    } catch (error) {
      if (!(error instanceof BrokenSegmentError)) throw error
    } finally {
      segments.close()
    }
  }
}

/** The read job of `render`. @throws ApiError validation_failed */
export function* renderStats(
  db: Connection,
  query: StatsQuery,
  checkpoint: Checkpoint,
): Generator<void, StatsTexts & Pick<StatsResponse, 'broken'>> {
  const { result, broken } = yield* aggregateStats(db, query, checkpoint)
  const { startsUs, callColumns, usageColumns } = query
  return {
    callBuckets: renderCallBuckets(startsUs, callColumns, result.calls),
    usageBuckets: renderUsageBuckets(startsUs, usageColumns, result.usage),
    unpricedModels: result.unpricedModels,
    reportedModels: result.reportedModels,
    broken,
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

function* aggregateHours(
  db: Connection,
  query: StatsQuery,
  reading: Reading,
  trust: Trust,
): Generator<void, StatsResult> {
  const { project_id, startUs, endUs, startsUs } = query
  const { segments, checkpoint } = reading
  const tables = createStatsTables({ ...query, prices: layerPrices(query.prices) })
  const clause = toFilterClause(db, project_id, query.filter)
  const scanRows = createRowScan(db, clause, tables, checkpoint)
  const filter = toHourFilter(project_id, query.filter)
  if (!filter || trust.isFromRows) {
    yield* scanRows(query)
    return tables.finish()
  }
  const cut = createHourCutter(startsUs, startUs, endUs)
  let { from } = hoursOf(startUs, endUs)
  let bucket = 0
  // Reads the hours again after each pause: their segments may be gone.
  for (let isPaused = true; isPaused; ) {
    isPaused = false
    const hours = readHours(db, query, from)
    const openViews = createViews(db, hours, reading)
    for (const row of hours) {
      const parts = cut(row.hour)
      if (parts.firstBucket > bucket) {
        bucket = parts.firstBucket
        tables.leaveBuckets(bucket)
        // Only the previous hour can reach into this bucket; earlier ones have ended before it.
        segments.leave()
      }
      if (!addPieces(row, parts, { openViews, filter, tables, trust })) {
        isPaused = yield* scanRows({ project_id, ...timesOf(parts) })
      }
      from = row.hour + 1
      if (!isPaused && checkpoint()) {
        yield
        isPaused = true
      }
      if (isPaused) break
    }
  }
  return tables.finish()
}

/** The tables and readers for adding an hour. */
interface Adding {
  readonly openViews: (state: HourState) => HourView[] | null
  readonly filter: HourFilter
  readonly tables: StatsTables
  readonly trust: Trust
}

/**
 * Adds an hour from its segments.
 *
 * @returns whether the hour was added; false when its rows must be read
 * @throws BrokenSegmentError when the tables already hold a part of it
 */
function addPieces(
  row: HourState,
  parts: HourParts,
  { openViews, filter, tables, trust }: Adding,
): boolean {
  let sums: HourSums[] = []
  try {
    const views = trust.broken.has(row.hour_key) ? null : openViews(row)
    if (!views?.every((view) => fitsInSums(view, parts))) return false
    sums = views.map((view) => sumHour(view, parts, filter, tables))
  } catch (error) {
    if (!(error instanceof BrokenSegmentError)) throw error
    trust.broken.add(row.hour_key)
    return false
  }
  try {
    tables.addHour(sums, parts)
    return true
  } catch (error) {
    if (error instanceof BrokenSegmentError) trust.broken.add(row.hour_key)
    throw error
  }
}

function readHours(db: Connection, { project_id, startUs, endUs }: StatsQuery, from_hour: number) {
  const { to: to_hour } = hoursOf(startUs, endUs)
  return db.prepare(SELECT_HOURS).all({ project_id, from_hour, to_hour }) as HourState[]
}

function timesOf({ hourUs, bounds }: HourParts): { startUs: number; endUs: number } {
  return { startUs: hourUs + (bounds[0] ?? 0), endUs: hourUs + (bounds.at(-1) ?? 0) }
}

function fitsInSums({ slots, columns }: HourView, { bounds }: HourParts): boolean {
  const { models } = slots('own') ?? columns.usage()
  return models.length * bounds.length <= PART_SUMS_MAX
}

/** Returns an opener of hours: null when the rows of an hour must be read. Its views throw BrokenSegmentError. */
function createViews(
  db: Connection,
  hours: readonly HourState[],
  { segments, checkpoint }: Reading,
) {
  const withoutSegments = hours.filter(({ built_revision }) => built_revision === null)
  const live = new Set(withoutSegments.slice(-LIVE_HOURS_MAX))

  return function openViews(state: HourState): HourView[] | null {
    const { built_revision, revision } = state
    if (built_revision === null && !live.has(state)) return null
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
