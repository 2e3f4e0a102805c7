/**
 * The read job that updates the segments of an hour: it adds new changes to the last segment and starts further ones
 * when that is full. Before that, it rebuilds segments with calls that were removed since, or are no roots any more. When no
 * usable segments exist, it builds them from the rows of the calls.
 */

import type { Connection } from '../../../db/connection.ts'
import { createHourCache } from '../hour-cache.ts'
import {
  createGrowingHour,
  type GrowingHour,
  HOUR_MODELS_MAX,
  type HourColumns,
} from '../hour-columns.ts'
import { addChanges } from '../hour-entries.ts'
import { findRemoved, withoutEntries } from '../hour-removals.ts'
import { addRows, type HourPosition } from '../hour-rows.ts'
import { type HourState, readChanges } from '../live-hours.ts'
import { BrokenSegmentError, correctStored, type StoredSegment } from '../segment.ts'
import { SELECT_HOUR } from '../segments.sql.ts'
import { createSegmentReader, SEGMENTS_MAX } from '../stored-hours.ts'
import { type EncodedSegment, encodeColumns } from './segment-build.ts'

export interface BuildInput {
  readonly hour_key: number
  /** Limit: entries of a segment, and its rows of usage. */
  readonly segmentRowsMax: number
  /** When building from rows: where the last segment ended. */
  readonly from: RestOfRows | null
}

/** A segment and the state of the hour from which it was built. */
export interface BuiltSegment extends EncodedSegment {
  readonly hour_key: number
  /** The segment is valid while the hour still has this generation and built revision. */
  readonly generation: number
  readonly built_revision: number | null
  /** With this segment, the segments hold the changes up to this revision. */
  readonly to_revision: number
  /** The index of the segment, and the key of the one it replaces. */
  readonly piece: number
  readonly replaces: number | null
  /** The number of entries and removals added to the segments. */
  readonly entries: number
  /**
   * The segment holds what the replaced one held, except corrections of calls that changed since. Other segments may
   * still lack theirs.
   */
  readonly isThinned: boolean
  /** Where the rows for further segments begin, if the hour has not changed by then. */
  readonly rest: RestOfRows | null
  /** The segments hold all changes. */
  readonly isLast: boolean
}

/** Limit: corrected calls that one round searches. */
const CORRECTED_MAX = 2 ** 14

export type BuildResult = BuiltSegment | 'broken' | null

interface RestOfRows {
  readonly place: HourPosition
  readonly piece: number
  readonly revision: number
}

/**
 * Builds the next segment of an hour. Returns null when the hour does not exist or nothing is left to build, and
 * `broken` when the last segment or the changes since cannot be read.
 */
export function buildSegment(
  db: Connection,
  input: BuildInput,
  checkpoint: () => void,
): BuildResult {
  const state = db.prepare(SELECT_HOUR).get({ hour_key: input.hour_key }) as HourState | undefined
  if (!state) return null
  if (state.built_revision === null) return buildFromRows(db, state, input, checkpoint)
  if (state.built_revision === state.revision) return null
  return buildFromChanges(db, state, input, checkpoint)
}

function buildFromRows(
  db: Connection,
  state: HourState,
  { segmentRowsMax, from }: BuildInput,
  checkpoint: () => void,
): BuiltSegment | null {
  const { hour_key, revision, generation } = state
  if (from && from.revision !== revision) return null
  const piece = from?.piece ?? 0
  const columns = createGrowingHour()
  const isFull = () => piece < SEGMENTS_MAX - 1 && isSegmentFull(columns, segmentRowsMax)
  const place = addRows(db, state, columns, from?.place ?? null, isFull, checkpoint)
  return {
    hour_key,
    generation,
    built_revision: null,
    to_revision: revision,
    piece,
    replaces: null,
    entries: 0,
    isThinned: false,
    rest: place && { place, piece: piece + 1, revision },
    isLast: place === null,
    ...encodeColumns(columns.isFit() ? columns : null, revision),
  }
}

function buildFromChanges(
  db: Connection,
  state: HourState,
  { segmentRowsMax }: BuildInput,
  checkpoint: () => void,
): BuiltSegment | 'broken' {
  const { hour_key, generation, pieces } = state
  const built_revision = state.built_revision as number
  const segments = createSegmentReader(db, createHourCache(0))
  try {
    const stored = segments.open(state)
    const last = findLast(stored, segmentRowsMax)
    const isUnfit = last?.hour.head.isUnfit === true
    const columns = createGrowingHour()
    if (last && !isUnfit) columns.addAll(last.hour.columns)
    let to_revision = built_revision
    let entries = 0
    for (const change of readChanges(db, hour_key, built_revision)) {
      if (pieces < SEGMENTS_MAX && isSegmentFull(columns, segmentRowsMax)) break
      if (columns.removed().size + columns.unrooted().size >= CORRECTED_MAX) break
      checkpoint()
      entries += addChanges(columns, change.entries_json)
      to_revision = change.revision
    }
    // The changes are missing, so only the rows have them.
    if (to_revision === built_revision) return 'broken'
    const thinned = correctOne(last ? stored.slice(0, -1) : stored, columns, state.revision)
    const base = { hour_key, generation, built_revision, to_revision, rest: null }
    if (thinned) return { ...base, ...thinned, entries: 0, isThinned: true, isLast: false }
    const isFit = !isUnfit && columns.isFit()
    return {
      ...base,
      entries,
      isThinned: false,
      isLast: to_revision === state.revision,
      piece: last ? pieces - 1 : pieces,
      replaces: last?.segment_key ?? null,
      ...encodeColumns(isFit ? withoutRemoved(columns) : null, to_revision),
    }
  } catch (error) {
    if (error instanceof BrokenSegmentError) return 'broken'
    throw error
  } finally {
    segments.close()
  }
}

function withoutRemoved(columns: GrowingHour): HourColumns {
  const places = findRemoved(columns.keys(), columns.removed(), false)
  return withoutEntries(columns, places)
}

/** Rebuilds the first segment that needs corrections, with them. @throws BrokenSegmentError */
function correctOne(stored: readonly StoredSegment[], later: GrowingHour, revision: number) {
  for (const [piece, { segment_key, hour }] of stored.entries()) {
    const corrected = correctStored(hour, later)
    if (!corrected) continue
    const left = withoutEntries(corrected.columns, corrected.removed)
    return { piece, replaces: segment_key, ...encodeColumns(left, revision) }
  }
  return null
}

function isSegmentFull(columns: GrowingHour, segmentRowsMax: number): boolean {
  const rows = Math.max(columns.count, columns.usageRows())
  return rows >= segmentRowsMax || columns.modelCount() >= HOUR_MODELS_MAX / 2
}

/** Returns the last segment if it has room or the hour can have no further segment. @throws BrokenSegmentError */
function findLast(stored: readonly StoredSegment[], segmentRowsMax: number): StoredSegment | null {
  const last = stored.at(-1)
  if (!last || last.hour.head.isUnfit || stored.length === SEGMENTS_MAX) return last ?? null
  const { columns } = last.hour
  const used = columns.usage()
  const rows = Math.max(columns.count, used.rows)
  return rows >= segmentRowsMax || used.models.length >= HOUR_MODELS_MAX / 2 ? null : last
}
