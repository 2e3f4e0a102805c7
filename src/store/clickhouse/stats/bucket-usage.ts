/** Reads the usage of buckets: from built hours, from sums over rows outside of them, and row by row where sums do not suffice. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { createBucketCursor } from '../../../domain/stats/bucket-cursor.ts'
import type { ModelUsage, PricedModel } from '../../../domain/usage/usage.ts'
import type { StatsQuery, StatsResult } from '../../api/stats/stats.ts'
import { servedKey } from '../../base/stats/served-models.ts'
import { INPUT_MAX } from '../../base/stats/sums.ts'
import { createUsageTables } from '../../base/stats/usage-tables.ts'
import type { Reads } from '../db/reads.ts'
import {
  type BuiltHour,
  findBucket,
  type HourPlan,
  planHours,
  RANGES_MAX,
  rangesOf,
} from '../hours/hour-plan.ts'
import { selectHourUsage } from '../hours/hour-usage.sql.ts'
import { HOUR_US, type TimeRange } from '../hours/hours.sql.ts'
import { findUsableHours, hoursOf, type QueryClause } from './built-hours.ts'
import { readServed, type ServedColumns } from './served-columns.ts'
import { selectUsage, sumUsage } from './stats.sql.ts'

type UsageTables = ReturnType<typeof createUsageTables>
type UsageResult = Omit<StatsResult, 'calls'>

interface UsageReads extends QueryClause {
  readonly reads: Reads
  /** Valid built hours; none: the rows are read alone. */
  readonly built: readonly BuiltHour[]
  readonly joinedMax: number
}

interface Sums extends ServedColumns {
  /** USAGE_NUMBERS. */
  readonly numbers: readonly number[]
}
type HourRow = Sums & { readonly hour: number }
type BucketRow = Sums & { readonly bucket: number }
type UsageRow = ServedColumns &
  Omit<ModelUsage, keyof PricedModel> & { readonly started_at_us: number }

/** Time ranges that are read; null: the whole window. */
type Ranges = readonly TimeRange[] | null

/** The statements of a query. */
interface Statements {
  hours(hours: readonly BuiltHour[]): AsyncIterable<readonly HourRow[]>
  sums(ranges: Ranges): AsyncIterable<readonly BucketRow[]>
  rows(ranges: Ranges): AsyncIterable<readonly UsageRow[]>
}

/** The sums of a model in a part of a bucket. */
interface PartSums {
  readonly bucket: number
  readonly fromUs: number
  readonly toUs: number
  readonly served: string
  readonly numbers: Float64Array
}

/** Sums in the order of their buckets, and the time ranges whose rows are needed. */
interface FoundUsage {
  readonly sums: readonly PartSums[]
  readonly ranges: Ranges
}

export async function readUsage(
  usage: UsageReads,
  query: StatsQuery,
  caller: ReadCaller,
): Promise<UsageResult> {
  const { startsUs, usageColumns: columns, callColumns, valuesMax, prices } = query
  const { statements, built } = await prepare(usage, query, caller)
  const tables = createUsageTables({
    columns,
    buckets: startsUs.length,
    valuesMax: valuesMax - callColumns.length * startsUs.length,
    prices: layerPrices(prices),
  })
  const found = tables.takesSums
    ? await findUsage(statements, query, planHours(query, built), tables)
    : ALL_ROWS
  await fillTables(tables, query, found, statements)
  return { usage: tables.tables(), ...tables.pricing() }
}

async function prepare(
  { reads, conditions, parameters, built, joinedMax }: UsageReads,
  query: StatsQuery,
  caller: ReadCaller,
): Promise<{ statements: Statements; built: readonly BuiltHour[] }> {
  const { startsUs, counting } = query
  const isOwn = counting === 'own'
  const { isDoubled, hours } = await findUsableHours(reads, query, parameters, built, caller)
  const scopeOf = (ranges: Ranges) => ({ conditions, isOwn, isDoubled, ranges })
  const ofRows = { ...parameters, joined_max: joinedMax }
  const hourSql = selectHourUsage(isOwn, conditions.length > 0)
  return {
    built: hours,
    statements: {
      hours: (read) => reads.stream(hourSql, { ...parameters, ...hoursOf(query, read) }, caller),
      sums: (ranges) => reads.stream(sumUsage(scopeOf(ranges), startsUs), ofRows, caller),
      rows: (ranges) => reads.stream(selectUsage(scopeOf(ranges)), ofRows, caller),
    },
  }
}

const ALL_ROWS: FoundUsage = { sums: [], ranges: null }

/** Reads sums. The rows are needed of times in which prices change, or have tiers that a call reaches. */
async function findUsage(
  statements: Statements,
  query: StatsQuery,
  plan: HourPlan | null,
  tables: UsageTables,
): Promise<FoundUsage> {
  const { startsUs, startUs, endUs } = query
  const isFit = ({ served, fromUs, toUs, numbers }: PartSums) => {
    const taker = tables.openSums(served, fromUs, toUs)
    const isExact = numbers.every(Number.isSafeInteger)
    return taker !== null && isExact && (numbers[INPUT_MAX] as number) <= taker.inputMax
  }
  const toPart = ({ numbers, ...columns }: Sums, fromUs: number, toUs?: number): PartSums => {
    const bucket = findBucket(startsUs, fromUs)
    return {
      bucket,
      fromUs: Math.max(fromUs, startUs),
      toUs: toUs ?? startsUs[bucket + 1] ?? endUs,
      served: servedKey(readServed(columns)),
      numbers: Float64Array.from(numbers),
    }
  }
  const sums: PartSums[] = []
  const unfit = new Set<number>()
  for await (const rows of plan ? statements.hours(plan.hours) : []) {
    for (const row of rows) {
      const part = toPart(row, row.hour * HOUR_US, (row.hour + 1) * HOUR_US)
      if (isFit(part)) sums.push(part)
      else unfit.add(row.hour)
    }
  }
  const found = sums.filter(({ fromUs }) => !unfit.has(fromUs / HOUR_US))
  const ranges = rangesOf(unfit)
  const gaps = plan === null ? null : plan.ranges
  const gapSums: PartSums[] = []
  for await (const rows of gaps?.length === 0 ? [] : statements.sums(gaps)) {
    const parts = rows.map((row) => toPart(row, row.bucket))
    if (parts.every(isFit)) gapSums.push(...parts)
    else if (gaps === null) return ALL_ROWS
    else {
      gapSums.length = 0
      ranges.push(...gaps)
      break
    }
  }
  if (ranges.length > RANGES_MAX) return ALL_ROWS
  const ordered = [...found, ...gapSums].sort((a, b) => a.bucket - b.bucket)
  return { sums: ordered, ranges }
}

/** Adds sums and rows in the order of their buckets. */
async function fillTables(
  tables: UsageTables,
  { startsUs }: StatsQuery,
  { sums, ranges }: FoundUsage,
  statements: Statements,
): Promise<void> {
  const cursor = createBucketCursor(startsUs, tables.flush)
  let next = 0
  const addSumsTo = (us: number) => {
    for (; next < sums.length; next++) {
      const { bucket, served, fromUs, toUs, numbers } = sums[next] as PartSums
      if ((startsUs[bucket] as number) > us) return
      cursor.moveToBucket(bucket)
      tables.openSums(served, fromUs, toUs)?.add(numbers, 0)
    }
  }
  for await (const rows of ranges?.length === 0 ? [] : statements.rows(ranges)) {
    for (const { started_at_us, ...row } of rows) {
      addSumsTo(started_at_us)
      cursor.moveTo(started_at_us)
      tables.add({ ...row, ...readServed(row) }, started_at_us)
    }
  }
  addSumsTo(Number.POSITIVE_INFINITY)
  cursor.end()
}
