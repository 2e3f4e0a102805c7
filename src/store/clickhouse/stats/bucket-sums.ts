/** Reads the sums and ranks of buckets: from built hours, and from the rows of all other times. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { StatsQuery } from '../../api/stats/stats.ts'
import type { Reads } from '../db/reads.ts'
import { type BuiltHour, findBucket, planHours } from '../hours/hour-plan.ts'
import { HOUR_US, sumHours, type TimeRange } from '../hours/hours.sql.ts'
import { hoursOf, type QueryClause } from './built-hours.ts'
import { rankLatencies, sumCalls } from './stats.sql.ts'

/** The sums of a bucket, identified by its start. */
export interface CallSums {
  readonly bucket: number
  readonly calls: number
  readonly errors: number
  readonly ended: number
  readonly latency_sum: number | null
  readonly latency_min: number | null
  readonly latency_max: number | null
  readonly ones: number
  readonly zeros: number
  /** For each requested percentile, the value at its rank and the next one. */
  readonly ranks: readonly (readonly [number, number])[]
}

type RankRow = Pick<CallSums, 'bucket' | 'ended' | 'ranks'>

/** Sums in the order of their buckets, of which each may have several, and one row of ranks for each bucket. */
interface FoundSums {
  readonly sums: readonly CallSums[]
  readonly ranks: readonly RankRow[]
}

type HourRow = Omit<CallSums, 'bucket'> & { readonly hour: number }

interface CallsRead extends QueryClause {
  readonly shares: readonly number[]
  readonly built: readonly BuiltHour[]
}

/** Reads built hours, and the rows of all other times. */
export async function findCallSums(
  reads: Reads,
  query: StatsQuery,
  { conditions, parameters, shares, built }: CallsRead,
  caller: ReadCaller,
): Promise<FoundSums> {
  const { startsUs } = query
  const plan = planHours(query, built)
  const readRows = (ranges: readonly TimeRange[] | null) =>
    reads.read<CallSums>(sumCalls(conditions, startsUs, shares, ranges), parameters, caller)
  if (plan === null) {
    const sums = await readRows(null)
    return { sums, ranks: sums }
  }
  const hasOps = conditions.length > 0
  const placeOf = (us: number) => findBucket(startsUs, us)
  const isMixed = ({ bucket }: RankRow) => plan.mixed.has(placeOf(bucket))
  const parametersOf = (hours: readonly BuiltHour[]) => ({
    ...parameters,
    ...hoursOf(query, hours),
  })
  const inMixed = plan.hours.filter(({ hour }) => plan.mixed.has(placeOf(hour * HOUR_US)))
  const hourShares = inMixed.length < plan.hours.length ? shares : []
  const [hours, rows, ranks] = await Promise.all([
    reads.read<HourRow>(sumHours(hasOps, hourShares), parametersOf(plan.hours), caller),
    plan.ranges.length > 0 ? readRows(plan.ranges) : [],
    shares.length > 0 && inMixed.length > 0
      ? reads.read<RankRow>(
          rankLatencies(conditions, startsUs, shares, plan.ranges),
          parametersOf(inMixed),
          caller,
        )
      : [],
  ])
  const ofHours = hours.map((row) => ({
    ...row,
    bucket: startsUs[placeOf(row.hour * HOUR_US)] as number,
  }))
  const sums = [...ofHours, ...rows].sort((a, b) => a.bucket - b.bucket)
  return { sums, ranks: [...sums.filter((row) => !isMixed(row)), ...ranks.filter(isMixed)] }
}

/** In the order of CALL_NUMBERS. */
export function toCallNumbers(row: Omit<CallSums, 'bucket' | 'ranks'>): Float64Array {
  const hasLatencies = row.ended > 0
  return Float64Array.of(
    row.calls,
    row.ended,
    row.errors,
    row.latency_sum ?? 0,
    hasLatencies ? (row.latency_min as number) : Number.POSITIVE_INFINITY,
    hasLatencies ? (row.latency_max as number) : Number.NEGATIVE_INFINITY,
    row.ones,
    row.zeros,
  )
}
