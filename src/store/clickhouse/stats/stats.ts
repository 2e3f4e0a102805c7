/** Statistics in ClickHouse: it sums up by bucket, the domain builds tables from the sums. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { BucketTable } from '../../../domain/stats/bucket-table.ts'
import { renderCallBuckets, renderUsageBuckets } from '../../../domain/stats/stats-view.ts'
import {
  type StatsQuery,
  type StatsResult,
  type StatsStore,
  type StatsTexts,
  tooManyValues,
} from '../../api/stats/stats.ts'
import { createSharedReads } from '../../base/read/shared-reads.ts'
import { createCallTable } from '../../base/stats/call-sums.ts'
import { keyOf } from '../../base/stats/sums.ts'
import { toFilterClause } from '../calls/query/calls-filter.ts'
import type { Reads } from '../db/reads.ts'
import type { BuiltHour } from '../hours/hour-plan.ts'
import { findCallSums, toCallNumbers } from './bucket-sums.ts'
import { readUsage } from './bucket-usage.ts'
import { countCalls, findBuilt, type QueryClause } from './built-hours.ts'
import { readGroups } from './groups.ts'
import { JOINED_MAX } from './stats.sql.ts'

/** From this many calls on, built hours are read: break-even with reading the rows. That of usage takes longer. */
const BUILT_MIN = 500_000
const USAGE_BUILT_MIN = 50_000

/** Numbers of calls in a window at which another statement takes less time; default: the break-even points. */
export interface StatsLimits {
  readonly joinedMax?: number | undefined
  readonly builtMin?: number | undefined
  readonly usageBuiltMin?: number | undefined
}

export function createStatsStore(
  reads: Reads,
  { joinedMax = JOINED_MAX, builtMin = BUILT_MIN, usageBuiltMin = USAGE_BUILT_MIN }: StatsLimits,
): StatsStore {
  const limits = { joinedMax, builtMin, usageBuiltMin }
  const texts = createSharedReads<StatsTexts>()

  async function aggregate(query: StatsQuery, caller: ReadCaller): Promise<StatsResult> {
    const { startsUs, callColumns, usageColumns, valuesMax } = query
    if (callColumns.length * startsUs.length > valuesMax) throw tooManyValues()
    const clause = clauseOf(query)
    const built = await findBuilt(reads, query, clause, caller)
    const many = countCalls(built)
    const from = (min: number) => ({ reads, ...clause, built: many < min ? [] : built })
    const [calls, usage] = await Promise.all([
      callColumns.length > 0 ? readCalls(from(builtMin), query, caller) : null,
      usageColumns.length > 0
        ? readUsage({ ...from(usageBuiltMin), joinedMax }, query, caller)
        : NO_USAGE,
    ])
    return { calls, ...usage }
  }

  return {
    aggregate,
    group: (query, caller) => readGroups(reads, query, clauseOf(query), limits, caller),
    render(query, caller) {
      const { startsUs, callColumns, usageColumns } = query
      const read = async (signal: AbortSignal): Promise<StatsTexts> => {
        const result = await aggregate(query, { ...caller, signal })
        return {
          callBuckets: renderCallBuckets(startsUs, callColumns, result.calls),
          usageBuckets: renderUsageBuckets(startsUs, usageColumns, result.usage),
          unpricedModels: result.unpricedModels,
          reportedModels: result.reportedModels,
        }
      }
      return texts.run(keyOf(query), read, caller.signal)
    },
  }
}

const NO_USAGE: Omit<StatsResult, 'calls'> = { usage: [], unpricedModels: [], reportedModels: [] }

function clauseOf({
  project_id,
  filter,
  startUs,
  endUs,
}: Omit<StatsQuery, 'startsUs' | 'valuesMax'>) {
  const { conditions, parameters } = toFilterClause(project_id, filter)
  return { conditions, parameters: { ...parameters, start_us: startUs, end_us: endUs } }
}

async function readCalls(
  { reads, ...from }: QueryClause & { readonly reads: Reads; readonly built: readonly BuiltHour[] },
  query: StatsQuery,
  caller: ReadCaller,
): Promise<BucketTable> {
  const { startsUs, callColumns } = query
  const isRank = ({ metric, of }: (typeof callColumns)[number]) =>
    metric === 'latency_ms' && typeof of === 'number'
  const ranked = callColumns.filter(isRank)
  const plain = callColumns.filter((column) => !isRank(column))
  const shares = ranked.map(({ of }) => (of as number) / 100)
  const found = await findCallSums(reads, query, { ...from, shares }, caller)
  const table = createCallTable(startsUs, plain)
  const ranks = ranked.map(() => new Float64Array(startsUs.length).fill(Number.NaN))
  const slotOf = placesOf(startsUs)
  for (const row of found.sums) table.addSums(slotOf(row.bucket), toCallNumbers(row), 0)
  for (const row of found.ranks) {
    if (row.ended === 0) continue
    row.ranks.forEach(([low, high], at) => {
      const rank = (shares[at] as number) * (row.ended - 1)
      const value = low + (high - low) * (rank - Math.floor(rank))
      ;(ranks[at] as Float64Array)[slotOf(row.bucket)] = value
    })
  }
  table.end()
  const values = callColumns.map((column) =>
    isRank(column)
      ? (ranks[ranked.indexOf(column)] as Float64Array)
      : (table.table.values[plain.indexOf(column)] as Float64Array),
  )
  return { count: table.table.count, values }
}

/** Indices of buckets by their starts. */
function placesOf(startsUs: Float64Array): (startUs: number) => number {
  const places = new Map([...startsUs].map((us, place) => [us, place]))
  return (us) => places.get(us) as number
}
