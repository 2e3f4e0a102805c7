/**
 * Reads segments. Each thread keeps what it has read, so that polls over the same days touch the file once;
 * a blob's checksum is looked at once by each thread.
 */
import {
  decodeHour,
  SEGMENT_COLUMNS,
  type SegmentColumn,
  type SegmentPart,
  type StoredHour,
} from '../../../domain/segment.ts'
import { decodeSegment } from '../../../domain/segment-blob.ts'
import type { Connection } from '../connection.ts'
import { SELECT_COLUMN, SELECT_HEAD } from '../sql/segments.ts'

/** Limit: bytes of blobs that a thread keeps. */
const KEPT_BYTES_MAX = 40 * 1024 * 1024
/** Limit: blobs that are remembered as checked. */
const CHECKED_MAX = 200_000

interface Kept {
  readonly revision: number
  readonly part: SegmentPart
  readonly bytes: number
}

/** What a thread keeps of the segments of a database, by column key. */
interface Memory {
  readonly kept: Map<number, Kept>
  keptBytes: number
  /** Revisions whose checksum was right. */
  readonly checked: Map<number, number>
}

const memories = new WeakMap<Connection, Memory>()

/** Where a column of an hour is stored. */
export function columnKey(hour_key: number, column: SegmentColumn): number {
  return hour_key * 16 + SEGMENT_COLUMNS[column]
}

/** Opens segments inside of one transaction. */
export function createSegmentReader(db: Connection) {
  const selectHead = db.prepare(SELECT_HEAD).pluck()
  const selectColumn = db.prepare(SELECT_COLUMN).pluck()
  const memory = memories.get(db) ?? { kept: new Map(), keptBytes: 0, checked: new Map() }
  memories.set(db, memory)

  function readBytes(hour_key: number, column: SegmentColumn | 'head'): Uint8Array | undefined {
    const bytes =
      column === 'head'
        ? selectHead.get({ hour_key })
        : selectColumn.get({ column_key: columnKey(hour_key, column) })
    return bytes as Uint8Array | undefined
  }

  /** @returns null when there is no segment of the revision; its columns throw BrokenSegmentError */
  return function openSegment(hour_key: number, revision: number): StoredHour | null {
    return decodeHour(revision, (column) => {
      const key = column === 'head' ? hour_key * 16 : columnKey(hour_key, column)
      const known = recall(memory, key, revision)
      if (known) return known
      const bytes = readBytes(hour_key, column)
      const isTrusted = memory.checked.get(key) === revision
      const part = bytes ? decodeSegment<SegmentPart['meta']>(bytes, isTrusted) : null
      if (!bytes || !part) return null
      remember(memory, key, { revision, part, bytes: bytes.length })
      return part
    })
  }
}

/** Moves what is used to the end, so that what was not used for the longest time stands first. */
function recall({ kept }: Memory, key: number, revision: number): SegmentPart | null {
  const found = kept.get(key)
  if (found?.revision !== revision) return null
  kept.delete(key)
  kept.set(key, found)
  return found.part
}

function remember(memory: Memory, key: number, fresh: Kept): void {
  const { kept, checked } = memory
  if (checked.size >= CHECKED_MAX) checked.clear()
  checked.set(key, fresh.revision)
  memory.keptBytes += fresh.bytes - (kept.get(key)?.bytes ?? 0)
  kept.delete(key)
  kept.set(key, fresh)
  for (const [oldest, { bytes }] of kept) {
    if (memory.keptBytes <= KEPT_BYTES_MAX) return
    kept.delete(oldest)
    memory.keptBytes -= bytes
  }
}
