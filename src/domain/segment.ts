/** The segment of an hour: its columns sorted by latency, and its sums, as blobs. Pure. */
import {
  COUNTERS,
  type GrowingHour,
  type HourColumns,
  type Integers,
  IS_ENDED,
  IS_ROOT,
  type Names,
  type NamesColumn,
  SLOTS,
} from './hour-columns.ts'
import { type KeyedSums, latencyRuns, type Runs, sumParts, toKeyed } from './hour-summary.ts'
import { encodeSegment, type Numbers, narrow, type Segment } from './segment-blob.ts'

/** Columns that lie apart, by the number under which they are stored: 1..15. */
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
} as const
export type SegmentColumn = keyof typeof SEGMENT_COLUMNS

/** Limit: groups of op, root and model whose sums are kept; an hour with more is added up call by call. */
const GROUPS_MAX = 2 ** 14

export interface HeadMeta {
  /** The state of the hour that the segment was built from. */
  readonly revision: number
  /** The hour does not fit into columns: its rows have to be read. */
  readonly isUnfit?: boolean
  readonly count: number
  readonly ended: number
  readonly models: readonly string[]
}

interface ColumnMeta {
  readonly revision: number
  readonly names?: readonly (string | null)[]
  readonly models?: readonly string[]
}

/** What is stored of an hour. */
export interface EncodedHour {
  readonly head: Uint8Array
  readonly columns: readonly { readonly column: SegmentColumn; readonly body: Uint8Array }[]
}

/** Sums by group, which is the place of the op times two, plus one for roots. */
export interface OpGroups {
  readonly names: readonly (string | null)[]
  readonly sums: KeyedSums
  /** Latencies by group, each ascending. @throws BrokenSegmentError */
  runs(): Runs
}

export function encodeHour(hour: GrowingHour, revision: number): EncodedHour {
  if (!hour.isFit()) {
    const meta: HeadMeta = { revision, isUnfit: true, count: 0, ended: 0, models: [] }
    return { head: encodeSegment(meta, {}), columns: [] }
  }
  const order = sortedOrder(hour)
  const pick = (values: Integers) => narrow(Uint32Array.from(order, (call) => values[call] ?? 0))
  const named = ({ names, ids }: Names) =>
    encodeSegment({ revision, names } satisfies ColumnMeta, { ids: pick(ids) })
  const columns: [SegmentColumn, Uint8Array][] = [
    ['latency', encodeSegment({ revision }, { values: pick(hour.latencies()) })],
    ['offset', encodeSegment({ revision }, { values: pick(hour.offsets()) })],
    ['slot', encodeSegment({ revision }, { values: pick(hour.slots()) })],
    ['flags', encodeSegment({ revision }, { values: pick(hour.flags()) })],
    ['op', named(hour.names('op'))],
    ['user', named(hour.names('user'))],
    ['run', named(hour.names('run'))],
    ['usage', encodeUsage(hour, order, revision)],
    ['groups', encodeGroups(hour, revision)],
    ['slotRuns', encodeRuns(hour, Int16Array.from(hour.slots()), SLOTS, revision)],
    ['groupRuns', encodeGroupRuns(hour, revision)],
  ]
  return {
    head: encodeHead(hour, revision),
    columns: columns.map(([column, body]) => ({ column, body })),
  }
}

/** The places of the calls by latency, those that still run last. */
function sortedOrder(hour: HourColumns): Uint32Array {
  const flags = hour.flags()
  const width = hour.count
  const keys = Float64Array.from(hour.latencies(), (latency, call) =>
    ((flags[call] as number) & IS_ENDED) === 0 ? Number.MAX_VALUE : latency * width + call,
  )
  const running: number[] = []
  keys.forEach((key, call) => {
    if (key === Number.MAX_VALUE) running.push(call)
  })
  const ended = keys.sort().subarray(0, hour.ended)
  return Uint32Array.from([...Array.from(ended, (key) => key % width), ...running])
}

function encodeUsage(hour: HourColumns, order: Uint32Array, revision: number): Uint8Array {
  const { rows, calls, models, modelIds, counters } = hour.usage()
  const placeOf = new Uint32Array(hour.count)
  order.forEach((call, place) => {
    placeOf[call] = place
  })
  const arrays: Record<string, Numbers> = {
    calls: narrow(Uint32Array.from({ length: rows }, (_, row) => placeOf[calls[row] ?? 0] ?? 0)),
    models: narrow(modelIds),
  }
  COUNTERS.forEach((name, index) => {
    arrays[name] = narrow(counters[index] ?? new Uint8Array())
  })
  return encodeSegment({ revision, models } satisfies ColumnMeta, arrays)
}

function encodeHead(hour: HourColumns, revision: number): Uint8Array {
  const slots = Int16Array.from(hour.slots())
  const sums = toKeyed(sumParts(hour, slots, SLOTS, { calls: true, usage: true }))
  const { count, ended } = hour
  const meta: HeadMeta = { revision, count, ended, models: sums.models }
  return encodeSegment(meta, keyedArrays(sums))
}

/** The group of each call; null where there are too many. */
function groupCalls(hour: HourColumns): { groupOf: Int16Array; groups: number } | null {
  const { names, ids } = hour.names('op')
  const groups = names.length * 2
  if (groups * Math.max(1, hour.usage().models.length) > GROUPS_MAX) return null
  const flags = hour.flags()
  const groupOf = Int16Array.from(
    ids,
    (id, call) => id * 2 + (((flags[call] as number) & IS_ROOT) === 0 ? 0 : 1),
  )
  return { groupOf, groups }
}

/** Nothing but the revision where there are too many groups. */
function encodeGroups(hour: HourColumns, revision: number): Uint8Array {
  const grouped = groupCalls(hour)
  if (!grouped) return encodeSegment({ revision } satisfies ColumnMeta, {})
  const { names } = hour.names('op')
  const { groupOf, groups } = grouped
  const sums = toKeyed(sumParts(hour, groupOf, groups, { calls: true, usage: true }))
  const meta: ColumnMeta = { revision, names, models: sums.models }
  return encodeSegment(meta, keyedArrays(sums))
}

function encodeGroupRuns(hour: HourColumns, revision: number): Uint8Array {
  const grouped = groupCalls(hour)
  if (!grouped) return encodeSegment({ revision } satisfies ColumnMeta, {})
  return encodeRuns(hour, grouped.groupOf, grouped.groups, revision)
}

function encodeRuns(
  hour: HourColumns,
  partOf: Int16Array,
  parts: number,
  revision: number,
): Uint8Array {
  const { values, bounds } = latencyRuns(hour, partOf, parts)
  return encodeSegment({ revision } satisfies ColumnMeta, {
    values: narrow(values),
    bounds: narrow(Uint32Array.from(bounds)),
  })
}

function keyedArrays(sums: KeyedSums): Record<string, Numbers> {
  return {
    callKeys: narrow(sums.callKeys),
    calls: sums.calls,
    usageKeys: narrow(sums.usageKeys),
    usageModels: narrow(sums.usageModels),
    usage: sums.usage,
  }
}

function readKeyed(segment: Segment<unknown>, models: readonly string[]): KeyedSums {
  return {
    callKeys: segment.array('callKeys') as Integers,
    calls: segment.array('calls') as Float64Array,
    models,
    usageKeys: segment.array('usageKeys') as Integers,
    usageModels: segment.array('usageModels') as Integers,
    usage: segment.array('usage') as Float64Array,
  }
}

/** Thrown by a column that cannot be read; the hour has to be read from its rows. */
export class BrokenSegmentError extends Error {}

/** The head of a segment and what is read through it. */
export interface StoredHour {
  readonly head: HeadMeta
  /** Sums by slot. */
  readonly slots: KeyedSums
  readonly columns: HourColumns
  /** Latencies by slot, each ascending. @throws BrokenSegmentError */
  slotRuns(): Runs
  /** null where there are too many groups. @throws BrokenSegmentError */
  groups(): OpGroups | null
}

/** A blob of a segment, decoded. */
export type SegmentPart = Segment<HeadMeta | ColumnMeta>

/**
 * Reads a segment back. Its columns throw BrokenSegmentError.
 *
 * @param revision - the hour's
 * @param read - a blob of the segment, null when it is broken or missing
 * @returns null when the head is broken or of another revision
 */
export function decodeHour(
  revision: number,
  read: (column: SegmentColumn | 'head') => SegmentPart | null,
): StoredHour | null {
  const headSegment = read('head') as Segment<HeadMeta> | null
  if (headSegment?.meta.revision !== revision) return null
  const head = headSegment.meta

  function open(column: SegmentColumn): Segment<ColumnMeta> {
    const segment = read(column) as Segment<ColumnMeta> | null
    if (segment?.meta.revision !== revision) throw new BrokenSegmentError(column)
    return segment
  }
  function readRuns(column: SegmentColumn): Runs {
    const segment = open(column)
    return {
      values: segment.array('values') as Integers,
      bounds: segment.array('bounds') as Integers,
    }
  }
  const values = (column: SegmentColumn) => open(column).array('values') as Integers

  return {
    head,
    slots: readKeyed(headSegment, head.models),
    columns: {
      count: head.count,
      ended: head.ended,
      isSorted: true,
      latencies: () => values('latency'),
      offsets: () => values('offset'),
      slots: () => values('slot'),
      flags: () => values('flags') as Uint8Array,
      names(column: NamesColumn) {
        const segment = open(column)
        return { names: segment.meta.names ?? [], ids: segment.array('ids') as Integers }
      },
      usage() {
        const segment = open('usage')
        const calls = segment.array('calls') as Integers
        return {
          rows: calls.length,
          calls,
          models: segment.meta.models ?? [],
          modelIds: segment.array('models') as Integers,
          counters: COUNTERS.map((name) => segment.array(name) as Integers),
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
  }
}
