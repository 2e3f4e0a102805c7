/** Decides which built hours a query of statistics reads, and of which times it reads the rows. Pure. */
import type { CallsFilter } from '../../../schemas/calls/calls-filter.ts'
import type { FilterCondition } from '../calls/calls.sql.ts'
import { HOUR_US, type TimeRange } from './hours.sql.ts'

/** Limit: times whose rows are read; of a window with more gaps all rows are read. */
export const RANGES_MAX = 100

export interface BuiltHour {
  readonly hour: number
  readonly version: number
  readonly calls: number
}

export interface HourPlan {
  readonly hours: readonly BuiltHour[]
  /** Times of the window that no hour covers. */
  readonly ranges: readonly TimeRange[]
  /** Buckets by index with latencies from more than one row of an hour, or from hours and rows. */
  readonly mixed: ReadonlySet<number>
}

interface PlannedQuery {
  readonly startUs: number
  readonly endUs: number
  readonly startsUs: Float64Array
  readonly filter: CallsFilter
}

/** Whether built hours can meet a query: all calls, or those of some ops, in buckets of which one may hold an hour. */
export function fitsHours(
  conditions: readonly FilterCondition[],
  { startsUs, endUs }: Pick<PlannedQuery, 'startsUs' | 'endUs'>,
): boolean {
  if (conditions.some((condition) => condition !== 'op_names')) return false
  return startsUs.some((us, bucket) => (startsUs[bucket + 1] ?? endUs) - us >= HOUR_US)
}

/**
 * Uses the hours that lie within the window and within one bucket.
 *
 * @param built - valid hours, ascending
 * @returns null when the rows are read alone
 */
export function planHours(query: PlannedQuery, built: readonly BuiltHour[]): HourPlan | null {
  const { startUs, endUs, startsUs, filter } = query
  const bucketAt = (us: number) => findBucket(startsUs, us)
  const hours = built.filter(({ hour }) => {
    const [from, to] = [hour * HOUR_US, (hour + 1) * HOUR_US]
    return from >= startUs && to <= endUs && bucketAt(from) === bucketAt(to - 1)
  })
  const ranges: TimeRange[] = []
  let from = startUs
  for (const { hour } of hours) {
    if (from < hour * HOUR_US) ranges.push([from, hour * HOUR_US])
    from = (hour + 1) * HOUR_US
  }
  if (from < endUs) ranges.push([from, endUs])
  if (hours.length === 0 || ranges.length > RANGES_MAX) return null
  const ops = filter.op_names ?? []
  const isOneRow = ops.length === 0 || (ops.length === 1 && !ops[0]?.includes('*'))
  const sources = new Map<number, number>()
  const count = (bucket: number, more: number) =>
    sources.set(bucket, (sources.get(bucket) ?? 0) + more)
  const builtBuckets = new Set(hours.map(({ hour }) => bucketAt(hour * HOUR_US)))
  for (const { hour } of hours) count(bucketAt(hour * HOUR_US), isOneRow ? 1 : 2)
  for (const [first, end] of ranges) {
    const last = bucketAt(end - 1)
    for (let bucket = bucketAt(first); bucket <= last; bucket++) count(bucket, 1)
  }
  const mixed = [...sources].filter(([bucket, many]) => many > 1 && builtBuckets.has(bucket))
  return { hours, ranges, mixed: new Set(mixed.map(([bucket]) => bucket)) }
}

/** The times of hours, in order; those that follow each other are one. */
export function rangesOf(hours: Iterable<number>): TimeRange[] {
  const ranges: [number, number][] = []
  for (const hour of [...new Set(hours)].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last?.[1] === hour * HOUR_US) last[1] += HOUR_US
    else ranges.push([hour * HOUR_US, (hour + 1) * HOUR_US])
  }
  return ranges
}

/** The index of the last start that is not after a time. */
export function findBucket(startsUs: Float64Array, us: number): number {
  let [low, high] = [0, startsUs.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((startsUs[middle] as number) <= us) low = middle
    else high = middle - 1
  }
  return low
}
