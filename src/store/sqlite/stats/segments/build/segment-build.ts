/** Encodes the columns of an hour as the blobs of a segment. Pure. */
import { COUNTS_BOTH } from '../../../../../domain/usage/own-usage.ts'
import { COUNTERS, type Integers, type KeyedSums } from '../../../../base/stats/sums.ts'
import { type HourColumns, IS_ENDED, IS_ROOT, type Names, SLOTS } from '../hour-columns.ts'
import { rangeOf } from '../hour-removals.ts'
import { latencyRuns, sumParts, toKeyed } from '../hour-summary.ts'
import type { ColumnMeta, HeadMeta, SegmentColumn } from '../segment.ts'
import { encodeSegment, type Numbers, narrow } from '../segment-blob.ts'

/** Limit: groups of op, root and model with stored sums; an hour with more is added up call by call. */
const GROUPS_MAX = 2 ** 14

/** The stored form of a segment. */
export interface EncodedSegment {
  readonly head: Uint8Array
  readonly columns: readonly { readonly column: SegmentColumn; readonly body: Uint8Array }[]
}

/** Encodes a segment. @param hour - null for one that does not fit */
export function encodeColumns(hour: HourColumns | null, revision: number): EncodedSegment {
  if (hour === null) {
    const meta: HeadMeta = { revision, isUnfit: true, count: 0, ended: 0, models: [] }
    return { head: encodeSegment(meta, {}), columns: [] }
  }
  const order = sortedOrder(hour)
  const pick = (values: Integers) => narrow(Uint32Array.from(order, (call) => values[call] ?? 0))
  const named = ({ names, ids }: Names) =>
    encodeSegment({ revision, names } satisfies ColumnMeta, { ids: pick(ids) })
  const columns: [SegmentColumn, Uint8Array][] = [
    ['key', encodeSegment({ revision }, { values: pick(hour.keys()) })],
    ['latency', encodeSegment({ revision }, { values: pick(hour.latencies()) })],
    ['offset', encodeSegment({ revision }, { values: pick(hour.offsets()) })],
    ['slot', encodeSegment({ revision }, { values: pick(hour.slots()) })],
    ['flags', encodeSegment({ revision }, { values: pick(hour.flags()) })],
    ['op', named(hour.names('op'))],
    ['user', named(hour.names('user'))],
    ['run', named(hour.names('run'))],
    ['endUser', named(hour.names('endUser'))],
    ['usage', encodeUsage(hour, order, revision)],
    ['groups', encodeGroups(hour, revision)],
    ['slotRuns', encodeRuns(hour, Int16Array.from(hour.slots()), SLOTS, revision)],
    ['groupRuns', encodeGroupRuns(hour, revision)],
    ['roots', encodeRoots(hour, revision)],
  ]
  const differs = hour.usage().counts.some((counts) => counts !== COUNTS_BOTH)
  if (differs) columns.push(['reported', encodeReported(hour, revision)])
  return {
    head: encodeHead(hour, revision, differs),
    columns: columns.map(([column, body]) => ({ column, body })),
  }
}

/** Returns the indexes of the entries sorted by latency, those without an end last. */
function sortedOrder(hour: HourColumns): Uint32Array {
  const flags = hour.flags()
  const width = hour.count
  const keys = Float64Array.from(hour.latencies(), (latency, call) =>
    ((flags[call] as number) & IS_ENDED) === 0 ? Number.MAX_VALUE : latency * width + call,
  )
  const order = new Uint32Array(width)
  let place = hour.ended
  for (let call = 0; call < width; call++) {
    if (keys[call] !== Number.MAX_VALUE) continue
    order[place] = call
    place += 1
  }
  keys.sort()
  for (let at = 0; at < hour.ended; at++) order[at] = (keys[at] as number) % width
  return order
}

function encodeUsage(hour: HourColumns, order: Uint32Array, revision: number): Uint8Array {
  const { rows, calls, models, modelIds, counters, counts } = hour.usage()
  const slotOf = new Uint32Array(hour.count)
  order.forEach((call, place) => {
    slotOf[call] = place
  })
  const arrays: Record<string, Numbers> = {
    calls: narrow(Uint32Array.from({ length: rows }, (_, row) => slotOf[calls[row] ?? 0] ?? 0)),
    models: narrow(modelIds),
    counts: narrow(counts),
  }
  COUNTERS.forEach((name, index) => {
    arrays[name] = narrow(counters[index] ?? new Uint8Array())
  })
  return encodeSegment({ revision, models } satisfies ColumnMeta, arrays)
}

function encodeHead(hour: HourColumns, revision: number, differs: boolean): Uint8Array {
  const slots = Int16Array.from(hour.slots())
  const sums = toKeyed(sumParts(hour, slots, SLOTS, { calls: true, usage: 'own' }))
  const { count, ended } = hour
  const keys = rangeOf(hour.keys())
  const meta: HeadMeta = { revision, count, ended, models: sums.models, differs, keys }
  return encodeSegment(meta, keyedArrays(sums))
}

function encodeReported(hour: HourColumns, revision: number): Uint8Array {
  const slots = Int16Array.from(hour.slots())
  const sums = toKeyed(sumParts(hour, slots, SLOTS, { calls: false, usage: 'reported' }))
  const meta: ColumnMeta = { revision, models: sums.models }
  return encodeSegment(meta, keyedArrays(sums))
}

/** Returns the group of each call; null when there are too many groups. */
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

/** Encodes the sums by group, or only the revision when there are too many groups. */
function encodeGroups(hour: HourColumns, revision: number): Uint8Array {
  const grouped = groupCalls(hour)
  if (!grouped) return encodeSegment({ revision } satisfies ColumnMeta, {})
  const { names } = hour.names('op')
  const { groupOf, groups } = grouped
  const sums = toKeyed(sumParts(hour, groupOf, groups, { calls: true, usage: 'reported' }))
  const meta: ColumnMeta = { revision, names, models: sums.models }
  return encodeSegment(meta, keyedArrays(sums))
}

function encodeGroupRuns(hour: HourColumns, revision: number): Uint8Array {
  const grouped = groupCalls(hour)
  if (!grouped) return encodeSegment({ revision } satisfies ColumnMeta, {})
  return encodeRuns(hour, grouped.groupOf, grouped.groups, revision)
}

function encodeRoots(hour: HourColumns, revision: number): Uint8Array {
  const partOf = Int16Array.from(hour.flags(), (flags) => ((flags & IS_ROOT) === 0 ? -1 : 0))
  const sums = toKeyed(sumParts(hour, partOf, 1, { calls: true, usage: 'reported' }))
  const meta: ColumnMeta = { revision, models: sums.models }
  const { values } = latencyRuns(hour, partOf, 1)
  return encodeSegment(meta, { ...keyedArrays(sums), values: narrow(Uint32Array.from(values)) })
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
