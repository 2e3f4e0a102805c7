/** Statistics by groups of calls in ClickHouse: it sums up by name, the domain adds up groups from the sums. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { errorType } from '../../../domain/stats/groups.ts'
import type { ModelUsage, PricedModel } from '../../../domain/usage/usage.ts'
import type { GroupsQuery, GroupsResult } from '../../api/stats/stats.ts'
import { STATUSES, settleStatuses } from '../../base/stats/group-status.ts'
import { createGroupTables, type GroupTables } from '../../base/stats/group-tables.ts'
import { servedKey } from '../../base/stats/served-models.ts'
import { CALL_NUMBERS, emptyCalls, INPUT_MAX } from '../../base/stats/sums.ts'
import type { Parameters } from '../db/client.ts'
import type { Reads } from '../db/reads.ts'
import { HAS_DOUBLES } from '../usage/requests.sql.ts'
import { type CallSums, toCallNumbers } from './bucket-sums.ts'
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

/** What the statements of a query have in common. */
interface GroupReads {
  readonly reads: Reads
  readonly query: GroupsQuery
  readonly scope: UsageScope
  readonly parameters: Parameters
  readonly caller: ReadCaller
}

/** Reads the groups. @param joinedMax - up to so many calls of a window, own usage is computed by a join */
export async function readGroups(
  reads: Reads,
  query: GroupsQuery,
  { conditions, parameters }: Pick<UsageScope, 'conditions'> & Pick<GroupReads, 'parameters'>,
  joinedMax: number,
  caller: ReadCaller,
): Promise<GroupsResult> {
  const isOwn = query.counting === 'own'
  const { project_id } = query
  const doubles = isOwn ? await reads.read(HAS_DOUBLES, { project_id }, caller) : []
  const reading: GroupReads = {
    reads,
    query,
    scope: { conditions, isOwn, isDoubled: doubles.length > 0 },
    parameters: { ...parameters, joined_max: joinedMax },
    caller,
  }
  const tables = createGroupTables({ ...query, prices: layerPrices(query.prices) })
  await addCalls(reading, tables)
  if (query.usageColumns.length > 0) await addUsage(reading, tables)
  return tables.finish()
}

async function addCalls(reading: GroupReads, tables: GroupTables): Promise<void> {
  const { reads, query, scope, parameters, caller } = reading
  const { field } = query.groupBy
  const isOfUsage = field === 'model' || field === 'provider'
  const sql = isOfUsage ? groupCallsByUsage(field, scope) : groupCalls(field, scope.conditions)
  const statuses = emptyCalls(STATUSES.length)
  for await (const rows of reads.stream<GroupedCalls>(sql, parameters, caller)) {
    for (const row of rows) {
      const numbers = toCallNumbers(row)
      if (field === 'status') {
        statuses.set(
          numbers,
          STATUSES.indexOf(row.name as (typeof STATUSES)[number]) * CALL_NUMBERS,
        )
        continue
      }
      const group = indexOf(reading, tables, row.name)
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

async function addUsage(reading: GroupReads, tables: GroupTables): Promise<void> {
  const { reads, query, scope, parameters, caller } = reading
  const { startUs, endUs, groupBy } = query
  /** Names and models whose rows are needed, because of prices that change or have tiers. */
  const rest = new Set<string>()
  const models = new Set<string>()
  const sql = groupUsage(groupBy.field, scope)
  for await (const rows of reads.stream<GroupedUsage>(sql, parameters, caller)) {
    for (const { name, numbers, ...columns } of rows) {
      const group = indexOf(reading, tables, name)
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
  const ofRows = selectNamedUsage(groupBy.field, scope)
  const named = { ...parameters, models: [...models] }
  for await (const rows of reads.stream<UsageRow>(ofRows, named, caller)) {
    for (const { name, started_at_us, ...row } of rows) {
      const served = readServed(row)
      const group = rest.has(pairOf(name, served)) ? indexOf(reading, tables, name) : -1
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
