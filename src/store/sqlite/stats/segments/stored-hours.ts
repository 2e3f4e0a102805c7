/**
 * Reads segments. Each thread keeps what it has read, so that polls over the same days touch the file once;
 * a blob's checksum is looked at once by each thread.
 */
import type { Statement } from 'better-sqlite3'
import type { Connection } from '../../db/connection.ts'
import { type BlobRing, createBlobRing } from './blob-ring.ts'
import {
  decodeHour,
  SEGMENT_COLUMNS,
  type SegmentColumn,
  type SegmentPart,
  type StoredHour,
} from './segment.ts'
import { decodeSegment } from './segment-blob.ts'
import { SELECT_COLUMN, SELECT_HEAD } from './segments.sql.ts'

/** Limits: bytes of heads, which every question reads, and of columns that a thread keeps. */
const HEAD_BYTES_MAX = 8 * 1024 * 1024
const COLUMN_BYTES_MAX = 24 * 1024 * 1024
/** Limit: blobs that are remembered as checked. */
const CHECKED_MAX = 200_000

/** A blob that was read, and of a head the hour that is read through it. */
interface OpenPart {
  readonly part: SegmentPart
  hour: StoredHour | null
}

/** What a thread keeps of the segments of a database. */
interface Memory {
  /** By column key. Apart, since heads in use all along one ring would leave no room for columns. */
  readonly heads: BlobRing<OpenPart>
  readonly columns: BlobRing<OpenPart>
  /** Revisions whose checksum was right, by column key. */
  readonly checked: Map<number, number>
  readonly selectHead: Statement
  readonly selectColumn: Statement
}

const memories = new WeakMap<Connection, Memory>()

/** Where a column of an hour is stored. */
export function columnKey(hour_key: number, column: SegmentColumn): number {
  return hour_key * 16 + SEGMENT_COLUMNS[column]
}

/**
 * Opens segments inside of one transaction. What was opened may be written over when the next reader of the
 * connection is made.
 */
export function createSegmentReader(db: Connection) {
  const memory = memories.get(db) ?? createMemory(db)
  memories.set(db, memory)
  const { heads, columns, checked } = memory
  heads.begin()
  columns.begin()

  /** @returns null when there is no segment of the revision; its columns throw BrokenSegmentError */
  function open(hour_key: number, revision: number): StoredHour | null {
    const readHead = () => memory.selectHead.get({ hour_key })
    const head = readPart(heads, checked, hour_key * 16, revision, readHead)
    if (!head) return null
    head.hour ??= decodeHour(revision, head.part, (column) => {
      const column_key = columnKey(hour_key, column)
      const read = () => memory.selectColumn.get({ column_key })
      return readPart(columns, checked, column_key, revision, read)?.part ?? null
    })
    return head.hour
  }

  /** What was opened must not be read any more. */
  function close(): void {
    heads.end()
    columns.end()
  }

  return { open, close }
}

function createMemory(db: Connection): Memory {
  return {
    heads: createBlobRing(HEAD_BYTES_MAX),
    columns: createBlobRing(COLUMN_BYTES_MAX),
    checked: new Map(),
    selectHead: db.prepare(SELECT_HEAD).pluck(),
    selectColumn: db.prepare(SELECT_COLUMN).pluck(),
  }
}

function readPart(
  ring: BlobRing<OpenPart>,
  checked: Map<number, number>,
  key: number,
  revision: number,
  read: () => unknown,
): OpenPart | null {
  const known = ring.recall(key)
  if (known?.revision === revision) return known.value
  const blob = read() as Uint8Array | undefined
  if (!blob) return null
  const isTrusted = checked.get(key) === revision
  return ring.keep(key, revision, blob, (bytes) => {
    const part = decodeSegment<SegmentPart['meta']>(bytes, isTrusted)
    // What is of another revision may be built again under this one: it is not kept.
    if (part?.meta.revision !== revision) return null
    if (checked.size >= CHECKED_MAX) checked.clear()
    checked.set(key, revision)
    return { part, hour: null }
  })
}
