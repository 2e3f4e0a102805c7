/** Statistics by groups of calls in ClickHouse: it sums up by name, the domain adds up groups from the sums. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { errorType } from '../../../domain/stats/groups.ts'
import type { ModelUsage, PricedModel } from '../../../domain/usage/usage.ts'
import type { StatsGroupField } from '../../../schemas/stats/stats-groups.ts'
import type { GroupsQuery, GroupsResult } from '../../api/stats/stats.ts'
import { STATUSES, settleStatuses } from '../../base/stats/group-status.ts'
import { createGroupTables, type GroupTables } from '../../base/stats/group-tables.ts'
import { servedKey } from '../../base/stats/served-models.ts'
import { CALL_NUMBERS, emptyCalls, INPUT_MAX } from '../../base/stats/sums.ts'
import type { Parameters } from '../db/client.ts'
import type { Reads } from '../db/reads.ts'
import { groupHourCalls, groupHourUsage, isBuiltField } from '../hours/hour-groups.sql.ts'
import { planHours, rangesOf } from '../hours/hour-plan.ts'
import type { TimeRange } from '../hours/hours.sql.ts'
import { type CallSums, toCallNumbers } from './bucket-sums.ts'
import { countCalls, findBuilt, findUsableHours, hoursOf, type QueryClause } from './built-hours.ts'
import { groupCalls, groupCallsByUsage, groupUsage, selectNamedUsage } from './groups.sql.ts'
import { readServed, type ServedColumns } from './served-columns.ts'
import type { UsageScope } from './usage-rows.sql.ts'

/** NULL stands for no name. */
interface Named {
  readonly name: string | null
}

type GroupedCalls = Named &
  Omit<CallSums, 'bucket' | 'ranks'> & { readonly first_us?: number; readonly last_us?: number }
type GroupedUsage = Named & ServedColumns & { readonly numbers: readonly number[] }
type UsageRow = Named &
  ServedColumns &
  Omit<ModelUsage, keyof PricedModel> & { readonly started_at_us: number }

/** A part of the calls of a query: those of built hours, or of the rows of some times. */
interface GroupReads {
  readonly query: GroupsQuery
  calls(): AsyncIterable<readonly GroupedCalls[]>
  usage(): AsyncIterable<readonly GroupedUsage[]>
  /** The rows of the same calls with usage of some models. */
  rows(models: readonly string[]): AsyncIterable<readonly UsageRow[]>
}

interface GroupLimits {
  /** Up to so many calls of a window, own usage is computed by a join. */
  readonly joinedMax: number
  /** From so many calls on, built hours are read; that of usage takes longer. */
  readonly builtMin: number
  readonly usageBuiltMin: number
}

/** Reads the groups: from built hours, and from the rows of all other times. */
export async function readGroups(
  reads: Reads,
  query: GroupsQuery,
  clause: QueryClause,
  limits: GroupLimits,
  caller: ReadCaller,
): Promise<GroupsResult> {
  const tables = createGroupTables({ ...query, prices: layerPrices(query.prices) })
  for (const part of await openParts(reads, query, clause, limits, caller)) {
    await addCalls(part, tables)
    if (query.usageColumns.length > 0) await addUsage(part, tables)
  }
  return tables.finish()
}

async function openParts(
  reads: Reads,
  query: GroupsQuery,
  clause: QueryClause,
  { joinedMax, builtMin, usageBuiltMin }: GroupLimits,
  caller: ReadCaller,
): Promise<GroupReads[]> {
  const { conditions, parameters } = clause
  const { counting, usageColumns, groupBy } = query
  const { field } = groupBy
  const isOwn = counting === 'own'
  const window = { ...query, startsUs: Float64Array.of(query.startUs) }
  const found = isBuiltField(field) ? await findBuilt(reads, window, clause, caller) : []
  const isOfUsage = usageColumns.length > 0 || isUsageField(field)
  const built = countCalls(found) < (isOfUsage ? usageBuiltMin : builtMin) ? [] : found
  const { isDoubled, hours } = isOfUsage
    ? await findUsableHours(reads, query, parameters, built, caller)
    : { isDoubled: false, hours: built }
  const plan = isBuiltField(field) ? planHours(window, hours) : null

  const ofRows = (ranges: readonly TimeRange[] | null): GroupReads => {
    const scope: UsageScope = { conditions, isOwn, isDoubled, ranges }
    const values = { ...parameters, joined_max: joinedMax }
    const stream = <Row>(sql: string, more: Parameters = {}) =>
      reads.stream<Row>(sql, { ...values, ...more }, caller)
    const callsSql = isUsageField(field)
      ? groupCallsByUsage(field, scope)
      : groupCalls(field, conditions, ranges)
    return {
      query,
      calls: () => stream(callsSql),
      usage: () => stream(groupUsage(field, scope)),
      rows: (models) => stream(selectNamedUsage(field, scope), { models }),
    }
  }
  if (plan === null || !isBuiltField(field)) return [ofRows(null)]
  const hasOps = conditions.length > 0
  const values = { ...parameters, ...hoursOf(query, plan.hours) }
  const ofHours: GroupReads = {
    query,
    calls: () => reads.stream(groupHourCalls(field, isOwn, hasOps), values, caller),
    usage: () => reads.stream(groupHourUsage(field, isOwn, hasOps), values, caller),
    rows: ofRows(rangesOf(plan.hours.map(({ hour }) => hour))).rows,
  }
  return [ofHours, ...(plan.ranges.length > 0 ? [ofRows(plan.ranges)] : [])]
}

function isUsageField(field: StatsGroupField): field is 'model' | 'provider' {
  return field === 'model' || field === 'provider'
}

async function addCalls(part: GroupReads, tables: GroupTables): Promise<void> {
  const { field } = part.query.groupBy
  const statuses = emptyCalls(STATUSES.length)
  for await (const rows of part.calls()) {
    for (const row of rows) {
      const numbers = toCallNumbers(row)
      if (field === 'status') {
        statuses.set(
          numbers,
          STATUSES.indexOf(row.name as (typeof STATUSES)[number]) * CALL_NUMBERS,
        )
        continue
      }
      const group = indexOf(part, tables, row.name)
      if (group < 0) continue
      tables.addCalls(group, numbers, 0)
      if (row.first_us === undefined || row.last_us === undefined) continue
      tables.addTimes(group, row.first_us, row.last_us)
    }
  }
  if (field !== 'status') return
  settleStatuses(statuses)
  STATUSES.forEach((name, status) => {
    const group = tables.indexOf(name)
    if (group >= 0) tables.addCalls(group, statuses, status * CALL_NUMBERS)
  })
}

async function addUsage(part: GroupReads, tables: GroupTables): Promise<void> {
  const { startUs, endUs } = part.query
  /** Names and models whose rows are needed, because of prices that change or have tiers. */
  const rest = new Set<string>()
  const models = new Set<string>()
  for await (const rows of part.usage()) {
    for (const { name, numbers, ...columns } of rows) {
      const group = indexOf(part, tables, name)
      if (group < 0) continue
      const served = readServed(columns)
      const steady = tables.steadyIn(servedKey(served), startUs, endUs)
      const isExact = numbers.every(Number.isSafeInteger)
      if (steady && isExact && (numbers[INPUT_MAX] as number) <= steady.inputMax) {
        tables.addUsageSums(group, Float64Array.from(numbers), steady.prices)
        continue
      }
      rest.add(pairOf(name, served))
      models.add(served.model)
    }
  }
  if (rest.size === 0) return
  for await (const rows of part.rows([...models])) {
    for (const { name, started_at_us, ...row } of rows) {
      const served = readServed(row)
      const group = rest.has(pairOf(name, served)) ? indexOf(part, tables, name) : -1
      if (group >= 0) tables.addUsage(group, { ...row, ...served }, started_at_us)
    }
  }
}

function pairOf(name: string | null, served: PricedModel): string {
  return JSON.stringify([name, servedKey(served)])
}

function indexOf({ query }: GroupReads, tables: GroupTables, name: string | null): number {
  const isError = query.groupBy.field === 'error_type' && name !== null
  return tables.indexOf(isError ? errorType(name) : name)
}
