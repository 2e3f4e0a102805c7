/** Reads the pieces of hours. A blob's checksum is looked at once by each thread. */
import type { Statement } from 'better-sqlite3'
import type { Connection } from '../../db/connection.ts'
import type { HourState } from './live-hours.ts'
import {
  BrokenSegmentError,
  decodeHour,
  SEGMENT_COLUMNS,
  type SegmentColumn,
  type SegmentPart,
  type StoredHour,
} from './segment.ts'
import { decodeSegment } from './segment-blob.ts'
import { SELECT_COLUMN, SELECT_HEADS } from './segments.sql.ts'

/** Limit: pieces of an hour; what comes behind the last one makes it larger, until it does not fit. */
export const PIECES_MAX = 4096
/** Limit: blobs that are remembered as checked. */
const CHECKED_MAX = 200_000

/** A piece, and where it is stored. */
export interface StoredPiece {
  readonly segment_key: number
  readonly hour: StoredHour
}

/** What a thread remembers of a database. */
interface Memory {
  /** Revisions whose checksum was right, by column key; heads by that of a column 0. */
  readonly checked: Map<number, number>
  readonly selectHeads: Statement
  readonly selectColumn: Statement
}

const memories = new WeakMap<Connection, Memory>()

/**
 * Where a piece of an hour is stored, the first or the second time: one that replaces another is written beside it,
 * and answers when it is whole.
 */
export function segmentKey(hour_key: number, piece: number, turn: 0 | 1 = 0): number {
  return (hour_key * PIECES_MAX + piece) * 2 + turn
}

/** The keys of all pieces that an hour can have. */
export function segmentRange(hour_key: number): { from_key: number; to_key: number } {
  return { from_key: segmentKey(hour_key, 0), to_key: segmentKey(hour_key, PIECES_MAX - 1, 1) }
}

/** Where a column of a piece is stored. */
export function columnKey(segment_key: number, column: SegmentColumn): number {
  return segment_key * 16 + SEGMENT_COLUMNS[column]
}

export type SegmentReader = ReturnType<typeof createSegmentReader>

/** Opens pieces inside of one transaction. */
export function createSegmentReader(db: Connection) {
  const memory = memories.get(db) ?? createMemory(db)
  memories.set(db, memory)
  const { checked } = memory
  const blobs: Uint8Array[] = []

  function decode(key: number, blob: Uint8Array, revision: number | null): SegmentPart | null {
    const known = checked.get(key)
    const isTrusted = known !== undefined && (revision === null || known === revision)
    const part = decodeSegment<SegmentPart['meta']>(blob, isTrusted)
    if (!part || (revision !== null && part.meta.revision !== revision)) return null
    if (isTrusted && part.meta.revision !== known) {
      // Another blob than the one that was looked at.
      checked.delete(key)
      return decode(key, blob, revision)
    }
    if (checked.size >= CHECKED_MAX) checked.clear()
    checked.set(key, part.meta.revision)
    return part
  }

  function openPiece(segment_key: number, body: Uint8Array): StoredPiece {
    blobs.push(body)
    const head = decode(segment_key * 16, body, null)
    if (!head) throw new BrokenSegmentError('head')
    const { revision } = head.meta
    const parts = new Map<SegmentColumn, SegmentPart | null>()
    const read = (column: SegmentColumn) => {
      const known = parts.get(column)
      if (known !== undefined) return known
      const column_key = columnKey(segment_key, column)
      const blob = memory.selectColumn.get({ column_key }) as Uint8Array | undefined
      if (blob) blobs.push(blob)
      const part = blob ? decode(column_key, blob, revision) : null
      parts.set(column, part)
      return part
    }
    return { segment_key, hour: decodeHour(revision, head, read) }
  }

  return {
    /** The pieces of an hour, in order. @throws BrokenSegmentError, as their columns do */
    open({ hour_key, pieces }: HourState): StoredPiece[] {
      const rows = memory.selectHeads.all(segmentRange(hour_key)) as [number, Uint8Array][]
      if (rows.length !== pieces) throw new BrokenSegmentError('head')
      return rows.map(([segment_key, body]) => openPiece(segment_key, body))
    },

    /** What was opened must not be read any more. */
    close(): void {
      for (const blob of blobs) release(blob)
    },
  }
}

function createMemory(db: Connection): Memory {
  return {
    checked: new Map(),
    selectHeads: db.prepare(SELECT_HEADS).raw(),
    selectColumn: db.prepare(SELECT_COLUMN).pluck(),
  }
}

/** Gives a buffer back at once. A collector, which sees small objects alone, would let many pile up. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
