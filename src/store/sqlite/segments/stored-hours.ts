/** Reads segments. A blob's checksum is looked at once by each thread. */
import {
  decodeHour,
  SEGMENT_COLUMNS,
  type SegmentColumn,
  type StoredHour,
} from '../../../domain/segment.ts'
import type { Connection } from '../connection.ts'
import { SELECT_COLUMN, SELECT_HEAD } from '../sql/segments.ts'

/** Limit: blobs that are remembered as checked. */
const CHECKED_MAX = 200_000

/** Revisions by column key. */
const checkedByConnection = new WeakMap<Connection, Map<number, number>>()

/** Where a column of an hour is stored. */
export function columnKey(hour_key: number, column: SegmentColumn): number {
  return hour_key * 16 + SEGMENT_COLUMNS[column]
}

/** Opens segments inside of one transaction. */
export function createSegmentReader(db: Connection) {
  const selectHead = db.prepare(SELECT_HEAD).pluck()
  const selectColumn = db.prepare(SELECT_COLUMN).pluck()
  const checked = checkedByConnection.get(db) ?? new Map<number, number>()
  checkedByConnection.set(db, checked)

  /** @returns null when there is no segment of the revision; its columns throw BrokenSegmentError */
  return function openSegment(hour_key: number, revision: number): StoredHour | null {
    const head = selectHead.get({ hour_key }) as Uint8Array | undefined
    if (!head) return null
    return decodeHour(head, revision, (column) => {
      const column_key = columnKey(hour_key, column)
      const bytes = selectColumn.get({ column_key }) as Uint8Array | undefined
      if (!bytes) return null
      const isTrusted = checked.get(column_key) === revision
      if (!isTrusted) {
        if (checked.size >= CHECKED_MAX) checked.clear()
        checked.set(column_key, revision)
      }
      return { bytes, isTrusted }
    })
  }
}
