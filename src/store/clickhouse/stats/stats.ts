/** Statistics in ClickHouse: it sums up by bucket, the domain builds tables from the sums. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { createBucketCursor } from '../../../domain/stats/bucket-cursor.ts'
import type { BucketTable } from '../../../domain/stats/bucket-table.ts'
import { renderCallBuckets, renderUsageBuckets } from '../../../domain/stats/stats-view.ts'
import type { ModelUsage, PricedModel } from '../../../domain/usage/usage.ts'
import {
  type StatsQuery,
  type StatsResult,
  type StatsStore,
  type StatsTexts,
  tooManyValues,
} from '../../api/stats/stats.ts'
import { createSharedReads } from '../../base/read/shared-reads.ts'
import { createCallTable } from '../../base/stats/call-sums.ts'
import { servedKey } from '../../base/stats/served-models.ts'
import { createStatsTables } from '../../base/stats/stats-tables.ts'
import { keyOf } from '../../base/stats/sums.ts'
import { createUsageTables } from '../../base/stats/usage-tables.ts'
import { toFilterClause } from '../calls/calls-filter.ts'
import type { Reads } from '../db/reads.ts'
import { HAS_DOUBLES } from '../usage/requests.sql.ts'
import { findCallSums, toCallNumbers } from './bucket-sums.ts'
import { readGroups } from './groups.ts'
import { readServed, type ServedColumns } from './served-columns.ts'
import { selectUsage, sumUsage } from './stats.sql.ts'

/** Up to this many calls of a window own usage is computed by a join: break-even with checking the stored values. */
const JOINED_MAX = 50_000
/** From this many calls on, built hours are read: break-even with reading the rows. */
const BUILT_MIN = 500_000

/** Numbers of calls in a window at which another statement takes less time; default: the break-even points. */
export interface StatsLimits {
  readonly joinedMax?: number | undefined
  readonly builtMin?: number | undefined
}

interface UsageReads {
  readonly reads: Reads
  readonly joinedMax: number
  /** Whether requests of the project have several calls. */
  readonly isDoubled: boolean
}

export function createStatsStore(
  reads: Reads,
  { joinedMax = JOINED_MAX, builtMin = BUILT_MIN }: StatsLimits,
): StatsStore {
  const texts = createSharedReads<StatsTexts>()

  async function aggregate(query: StatsQuery, caller: ReadCaller): Promise<StatsResult> {
    const { startsUs, callColumns, usageColumns, valuesMax } = query
    if (callColumns.length * startsUs.length > valuesMax) throw tooManyValues()
    const [calls, usage] = await Promise.all([
      callColumns.length > 0 ? readCalls(reads, query, builtMin, caller) : null,
      usageColumns.length > 0 ? readUsage({ reads, joinedMax }, query, caller) : NO_USAGE,
    ])
    return { calls, ...usage }
  }

  return {
    aggregate,
    group: (query, caller) => readGroups(reads, query, clauseOf(query), joinedMax, caller),
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

type UsageResult = Omit<StatsResult, 'calls'>
const NO_USAGE: UsageResult = { usage: [], unpricedModels: [], reportedModels: [] }

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
  reads: Reads,
  query: StatsQuery,
  builtMin: number,
  caller: ReadCaller,
): Promise<BucketTable> {
  const { startsUs, callColumns } = query
  const isRank = ({ metric, of }: (typeof callColumns)[number]) =>
    metric === 'latency_ms' && typeof of === 'number'
  const ranked = callColumns.filter(isRank)
  const plain = callColumns.filter((column) => !isRank(column))
  const shares = ranked.map(({ of }) => (of as number) / 100)
  const { conditions, parameters } = clauseOf(query)
  const read = { conditions, parameters, shares, builtMin }
  const found = await findCallSums(reads, query, read, caller)
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

interface UsageSums extends ServedColumns {
  readonly bucket: number
  /** USAGE_NUMBERS. */
  readonly numbers: readonly number[]
}

async function readUsage(
  usage: Omit<UsageReads, 'isDoubled'>,
  query: StatsQuery,
  caller: ReadCaller,
): Promise<UsageResult> {
  const { project_id, counting } = query
  const isOwn = counting === 'own'
  const doubles = isOwn ? await usage.reads.read(HAS_DOUBLES, { project_id }, caller) : []
  const reading = { ...usage, isDoubled: doubles.length > 0 }
  return (await sumUp(reading, query, caller)) ?? readRows(reading, query, caller)
}

/** Computes from the sums of buckets; null if the columns, or prices that change or have tiers, need the rows. */
async function sumUp(
  { reads, joinedMax, isDoubled }: UsageReads,
  query: StatsQuery,
  caller: ReadCaller,
): Promise<UsageResult | null> {
  const { startsUs, startUs, endUs, callColumns, usageColumns: columns, counting } = query
  const buckets = startsUs.length
  const usage = createUsageTables({
    columns,
    buckets,
    valuesMax: query.valuesMax - callColumns.length * buckets,
    prices: layerPrices(query.prices),
  })
  if (!usage.takesSums) return null
  const { conditions, parameters } = clauseOf(query)
  const sql = sumUsage({ conditions, isOwn: counting === 'own', isDoubled }, startsUs)
  const slotOf = placesOf(startsUs)
  const cursor = createBucketCursor(startsUs, usage.flush)
  for await (const rows of reads.stream<UsageSums>(
    sql,
    { ...parameters, joined_max: joinedMax },
    caller,
  )) {
    for (const { bucket, numbers, ...columns } of rows) {
      const place = slotOf(bucket)
      const fromUs = Math.max(bucket, startUs)
      const served = servedKey(readServed(columns))
      const taker = usage.openSums(served, fromUs, startsUs[place + 1] ?? endUs)
      const input = numbers.at(-1) as number
      const isExact = numbers.every(Number.isSafeInteger)
      if (!taker || !isExact || input > taker.inputMax) return null
      cursor.moveToBucket(place)
      taker.add(Float64Array.from(numbers), 0)
    }
  }
  cursor.end()
  return { usage: usage.tables(), ...usage.pricing() }
}

type UsageRow = ServedColumns &
  Omit<ModelUsage, keyof PricedModel> & { readonly started_at_us: number }

async function readRows(
  { reads, joinedMax, isDoubled }: UsageReads,
  query: StatsQuery,
  caller: ReadCaller,
): Promise<UsageResult> {
  const { callColumns, startsUs, valuesMax } = query
  const tables = createStatsTables({
    ...query,
    callColumns: [],
    prices: layerPrices(query.prices),
    valuesMax: valuesMax - callColumns.length * startsUs.length,
  })
  const { conditions, parameters } = clauseOf(query)
  const sql = selectUsage({ conditions, isOwn: query.counting === 'own', isDoubled })
  for await (const rows of reads.stream<UsageRow>(
    sql,
    { ...parameters, joined_max: joinedMax },
    caller,
  )) {
    for (const { started_at_us, ...row } of rows) {
      tables.addUsage({ ...row, ...readServed(row) }, started_at_us)
    }
  }
  const { calls: _none, ...found } = tables.finish()
  return found
}
