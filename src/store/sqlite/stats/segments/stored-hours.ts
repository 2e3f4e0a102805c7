/** Reads the segments of hours. */
import type { Connection } from '../../db/connection.ts'
import { CACHED_BYTES_MAX, createHourCache, type HourCache, type OpenHour } from './hour-cache.ts'
import type { HourState } from './live-hours.ts'
import {
  BrokenSegmentError,
  decodeHour,
  SEGMENT_COLUMNS,
  type SegmentColumn,
  type SegmentPart,
  type StoredSegment,
} from './segment.ts'
import { decodeSegment } from './segment-blob.ts'
import { SELECT_COLUMN, SELECT_HEADS } from './segments.sql.ts'

/** Limit: segments of an hour; later entries enlarge the last one until it does not fit. */
export const SEGMENTS_MAX = 4096

const keptByConnection = new WeakMap<Connection, HourCache>()

/**
 * Returns the key of a segment. Each segment has two: a replacement is written under the other key and used once it is
 * complete.
 */
export function segmentKey(hour_key: number, piece: number, turn: 0 | 1 = 0): number {
  return (hour_key * SEGMENTS_MAX + piece) * 2 + turn
}

/** Returns the range of the keys of an hour's segments. */
export function segmentRange(hour_key: number): { from_key: number; to_key: number } {
  return { from_key: segmentKey(hour_key, 0), to_key: segmentKey(hour_key, SEGMENTS_MAX - 1, 1) }
}

/** Returns the key of a column of a segment. */
export function columnKey(segment_key: number, column: SegmentColumn): number {
  return segment_key * 16 + SEGMENT_COLUMNS[column]
}

export type SegmentReader = ReturnType<typeof createSegmentReader>

/**
 * Opens segments inside one transaction.
 *
 * @param kept - a cache of hours; default: the thread's cache for this database
 */
export function createSegmentReader(db: Connection, kept: HourCache = keptOf(db)) {
  const selectHeads = db.prepare(SELECT_HEADS).raw()
  const selectColumn = db.prepare(SELECT_COLUMN).pluck()
  let opened: OpenHour[] = []

  function decode(hour: OpenHour, blob: Uint8Array): SegmentPart | null {
    kept.addBlob(hour, blob)
    return decodeSegment<SegmentPart['meta']>(blob)
  }

  function openSegment(hour: OpenHour, segment_key: number, body: Uint8Array): StoredSegment {
    const head = decode(hour, body)
    if (!head) throw new BrokenSegmentError('head')
    const parts = new Map<SegmentColumn, SegmentPart | null>()
    const read = (column: SegmentColumn) => {
      const known = parts.get(column)
      if (known !== undefined) return known
      const column_key = columnKey(segment_key, column)
      const blob = selectColumn.get({ column_key }) as Uint8Array | undefined
      const part = blob ? decode(hour, blob) : null
      parts.set(column, part)
      return part
    }
    return { segment_key, hour: decodeHour(head.meta.revision, head, read) }
  }

  function openSegments(hour: OpenHour): StoredSegment[] {
    const { hour_key, pieces } = hour.state
    const rows = selectHeads.all(segmentRange(hour_key)) as [number, Uint8Array][]
    if (rows.length !== pieces) throw new BrokenSegmentError('head')
    return rows.map(([segment_key, body]) => openSegment(hour, segment_key, body))
  }

  return {
    /** Returns the segments of an hour, in order. @throws BrokenSegmentError, as do their columns */
    open(state: HourState): readonly StoredSegment[] {
      const known = kept.find(state)
      const hour = known ?? kept.open(state)
      opened.push(hour)
      if (known) return known.pieces
      try {
        hour.pieces = openSegments(hour)
        return hour.pieces
      } catch (error) {
        kept.forget(hour)
        throw error
      }
    },

    /**
     * Closes all hours but the last one opened, except those in the cache: they stay open, so that the next read finds
     * them.
     */
    leave(): void {
      const last = opened.at(-1)
      const stays = (hour: OpenHour) => hour.isKept || hour === last
      for (const hour of opened) if (!stays(hour)) kept.close(hour)
      opened = opened.filter(stays)
    },

    /** Closes all hours; what was opened must not be read any more. */
    close(): void {
      for (const hour of opened) kept.close(hour)
      opened = []
    },
  }
}

function keptOf(db: Connection): HourCache {
  const kept = keptByConnection.get(db) ?? createHourCache(CACHED_BYTES_MAX)
  keptByConnection.set(db, kept)
  return kept
}
