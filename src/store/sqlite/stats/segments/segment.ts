/** Reads back a segment of an hour: its sums, and its columns sorted by latency, from blobs. Pure. */
import type { UsageCounting } from '../../../../schemas/usage/usage-counting.ts'
import { COUNTERS, type KeyedSums, type Runs } from '../../../base/stats/sums.ts'
import type { GrowingHour, HourColumns, NamesColumn } from './hour-columns.ts'
import { findRemoved, mayContain, ofRoots, withoutRoots } from './hour-removals.ts'
import type { Segment } from './segment-blob.ts'

/** Separately stored columns, by the number in their key: 1..15. */
export const SEGMENT_COLUMNS = {
  latency: 1,
  offset: 2,
  slot: 3,
  op: 4,
  user: 5,
  run: 6,
  flags: 7,
  usage: 8,
  groups: 9,
  slotRuns: 10,
  groupRuns: 11,
  roots: 12,
  reported: 13,
  key: 14,
  endUser: 15,
} as const
export type SegmentColumn = keyof typeof SEGMENT_COLUMNS

export interface HeadMeta {
  /** The state of the hour that the segment was built from. */
  readonly revision: number
  /** The hour does not fit into columns: its rows must be read. */
  readonly isUnfit?: boolean
  readonly count: number
  readonly ended: number
  readonly models: readonly string[]
  /** The least and greatest key of its entries; missing in a segment that does not name its calls. */
  readonly keys?: readonly [least: number, most: number]
  /** Some calls report other usage than their own: sums of reported usage are stored separately. */
  readonly differs?: boolean
}

export interface ColumnMeta {
  readonly revision: number
  readonly names?: readonly (string | null)[]
  readonly models?: readonly string[]
}

/** Sums by group: the index of the op times two, plus one for roots. */
export interface OpGroups {
  readonly names: readonly (string | null)[]
  readonly sums: KeyedSums
  /** Latencies by group, each ascending. @throws BrokenSegmentError */
  runs(): Runs
}

function readKeyed(segment: Segment<unknown>, models: readonly string[]): KeyedSums {
  return {
    callKeys: segment.integers('callKeys'),
    calls: segment.doubles('calls'),
    models,
    usageKeys: segment.integers('usageKeys'),
    usageModels: segment.integers('usageModels'),
    usage: segment.doubles('usage'),
  }
}

interface RootSums {
  readonly sums: KeyedSums
  readonly runs: Runs
}

/** Thrown by a column that cannot be read; the hour must be read from its rows then. */
export class BrokenSegmentError extends Error {}

/**
 * An hour, or a segment of it, with its precomputed sums. Of a stored one, all methods but `roots` throw
 * BrokenSegmentError.
 */
export interface HourView {
  readonly columns: HourColumns
  /** The indexes of entries that do not count; if there are any, no sums are precomputed. */
  readonly removed: readonly number[]
  /** Whether some calls report other usage than their own. */
  readonly differs: boolean
  /** Sums by slot, or null. */
  slots(counting: UsageCounting): KeyedSums | null
  /** Latencies by slot, each ascending; only with sums by slot. */
  slotRuns(): Runs
  /** Sums by group with reported usage; null when there are too many groups. */
  groups(): OpGroups | null
  /** The same for the roots, under one key; null when broken, or in a segment that was built without them. */
  roots(): RootSums | null
}

/** A decoded segment: its head, and its sums and columns, which are read on demand. */
export interface StoredHour extends HourView {
  readonly head: HeadMeta
}

/** A segment and its key. */
export interface StoredSegment {
  readonly segment_key: number
  readonly hour: StoredHour
}

/** What later changes correct in a segment. */
interface Corrected {
  /** The columns; calls that are no roots any more have no flag. */
  readonly columns: HourColumns
  /** The indexes of entries whose calls were removed. */
  readonly removed: readonly number[]
}

/** Returns a segment with corrections, or null when there are none. @throws BrokenSegmentError if no keys were stored */
export function correctStored(
  hour: StoredHour,
  later: Pick<GrowingHour, 'removed' | 'unrooted'>,
): Corrected | null {
  const removed = findStored(hour, later.removed())
  const unrooted = ofRoots(hour.columns, findStored(hour, later.unrooted()))
  if (removed.length + unrooted.length === 0) return null
  return { columns: withoutRoots(hour.columns, unrooted), removed }
}

function findStored(
  { head, columns }: StoredHour,
  corrected: ReadonlyMap<number, number>,
): number[] {
  if (head.isUnfit || corrected.size === 0) return []
  if (!head.keys) throw new BrokenSegmentError('key')
  return mayContain(head.keys, corrected) ? findRemoved(columns.keys(), corrected, true) : []
}

/** A decoded blob of a segment. */
export type SegmentPart = Segment<HeadMeta | ColumnMeta>

/**
 * Decodes a segment. Its columns throw BrokenSegmentError.
 *
 * @param revision - the revision of the hour and of the head
 * @param read - returns a column of the segment, or null when it is broken or missing
 */
export function decodeHour(
  revision: number,
  headPart: SegmentPart,
  read: (column: SegmentColumn) => SegmentPart | null,
): StoredHour {
  const headSegment = headPart as Segment<HeadMeta>
  const head = headSegment.meta

  function open(column: SegmentColumn): Segment<ColumnMeta> {
    const segment = read(column) as Segment<ColumnMeta> | null
    if (segment?.meta.revision !== revision) throw new BrokenSegmentError(column)
    return segment
  }
  function readRuns(column: SegmentColumn): Runs {
    const segment = open(column)
    return {
      values: segment.integers('values'),
      bounds: segment.integers('bounds'),
    }
  }
  const values = (column: SegmentColumn) => open(column).integers('values')
  const slots = readKeyed(headSegment, head.models)

  return {
    head,
    differs: head.differs === true,
    removed: [],
    slots(counting) {
      if (counting === 'own' || !head.differs) return slots
      const segment = open('reported')
      const { callKeys, calls } = slots
      return { ...readKeyed(segment, segment.meta.models ?? []), callKeys, calls }
    },
    columns: {
      count: head.count,
      ended: head.ended,
      isSorted: true,
      keys: () => values('key'),
      latencies: () => values('latency'),
      offsets: () => values('offset'),
      slots: () => values('slot'),
      flags: () => values('flags') as Uint8Array,
      names(column: NamesColumn) {
        const segment = open(column)
        return { names: segment.meta.names ?? [], ids: segment.integers('ids') }
      },
      usage() {
        const segment = open('usage')
        const calls = segment.integers('calls')
        return {
          rows: calls.length,
          calls,
          models: segment.meta.models ?? [],
          modelIds: segment.integers('models'),
          counters: COUNTERS.map((name) => segment.integers(name)),
          counts: segment.integers('counts'),
        }
      },
    },
    slotRuns: () => readRuns('slotRuns'),
    groups() {
      const segment = open('groups')
      const { names, models = [] } = segment.meta
      if (!names) return null
      return { names, sums: readKeyed(segment, models), runs: () => readRuns('groupRuns') }
    },
    roots() {
      const segment = read('roots') as Segment<ColumnMeta> | null
      if (segment?.meta.revision !== revision) return null
      const values = segment.integers('values')
      const sums = readKeyed(segment, segment.meta.models ?? [])
      return { sums, runs: { values, bounds: [0, values.length] } }
    },
  }
}
