/**
 * Reads segments. Each thread keeps what it has read, so that polls over the same days touch the file once;
 * a blob's checksum is looked at once by each thread.
 */
import type { Statement } from 'better-sqlite3'
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
  /** Whether it was read since it was last looked at for being let go. */
  isUsed: boolean
  /** Of a head: the hour that is read through it. */
  hour: StoredHour | null
}

/** What a thread keeps of the segments of a database, by column key. */
interface Memory {
  readonly kept: Map<number, Kept>
  keptBytes: number
  /** Revisions whose checksum was right. */
  readonly checked: Map<number, number>
  readonly selectHead: Statement
  readonly selectColumn: Statement
}

const memories = new WeakMap<Connection, Memory>()

/** Where a column of an hour is stored. */
export function columnKey(hour_key: number, column: SegmentColumn): number {
  return hour_key * 16 + SEGMENT_COLUMNS[column]
}

/** Opens segments inside of one transaction; what was opened is of use to later ones. */
export function createSegmentReader(db: Connection) {
  const memory = memories.get(db) ?? createMemory(db)
  memories.set(db, memory)

  /** @returns null when there is no segment of the revision; its columns throw BrokenSegmentError */
  return function openSegment(hour_key: number, revision: number): StoredHour | null {
    const headKey = hour_key * 16
    const known = recall(memory, headKey, revision)
    if (known?.hour) return known.hour
    const hour = decodeHour(revision, (column) =>
      column === 'head'
        ? readPart(memory, headKey, revision, () => memory.selectHead.get({ hour_key }))
        : readColumn(memory, columnKey(hour_key, column), revision),
    )
    const head = memory.kept.get(headKey)
    if (head) head.hour = hour
    return hour
  }
}

function createMemory(db: Connection): Memory {
  return {
    kept: new Map(),
    keptBytes: 0,
    checked: new Map(),
    selectHead: db.prepare(SELECT_HEAD).pluck(),
    selectColumn: db.prepare(SELECT_COLUMN).pluck(),
  }
}

function readColumn(memory: Memory, column_key: number, revision: number): SegmentPart | null {
  return readPart(memory, column_key, revision, () => memory.selectColumn.get({ column_key }))
}

function readPart(
  memory: Memory,
  key: number,
  revision: number,
  read: () => unknown,
): SegmentPart | null {
  const known = recall(memory, key, revision)
  if (known) return known.part
  const bytes = read() as Uint8Array | undefined
  const isTrusted = memory.checked.get(key) === revision
  const part = bytes ? decodeSegment<SegmentPart['meta']>(bytes, isTrusted) : null
  // What is of another revision may be built again under this one: it is not kept.
  if (!bytes || part?.meta.revision !== revision) return null
  remember(memory, key, { revision, part, bytes: bytes.length, isUsed: false, hour: null })
  return part
}

function recall({ kept }: Memory, key: number, revision: number): Kept | null {
  const found = kept.get(key)
  if (found?.revision !== revision) return null
  found.isUsed = true
  return found
}

function remember(memory: Memory, key: number, fresh: Kept): void {
  const { kept, checked } = memory
  if (checked.size >= CHECKED_MAX) checked.clear()
  checked.set(key, fresh.revision)
  memory.keptBytes += fresh.bytes - (kept.get(key)?.bytes ?? 0)
  kept.delete(key)
  kept.set(key, fresh)
  if (memory.keptBytes > KEPT_BYTES_MAX) letGo(memory)
}

/** Lets the oldest go, but those that were read since the last time, which get one more round. */
function letGo(memory: Memory): void {
  const { kept } = memory
  for (const [key, old] of kept) {
    kept.delete(key)
    if (old.isUsed) {
      old.isUsed = false
      kept.set(key, old)
      continue
    }
    memory.keptBytes -= old.bytes
    if (memory.keptBytes <= KEPT_BYTES_MAX) return
  }
}
