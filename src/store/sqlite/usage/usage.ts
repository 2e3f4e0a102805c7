/** Usage over trees of calls in SQLite, summed up in TypeScript, in a reader. */
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import type { Expression } from '../../../domain/query/query-expression.ts'
import { createMatcher } from '../../../domain/query/query-matcher.ts'
import { timeValue } from '../../../domain/query/query-values.ts'
import { rollUpUsage, type UsageCall } from '../../../domain/usage/usage-rollup.ts'
import { ApiError } from '../../../errors.ts'
import type { CallsFilter } from '../../../schemas/calls/calls-filter.ts'
import type { UsageResponse } from '../../../schemas/usage/usage.ts'
import type { CallsUsageQuery, TraceUsageQuery } from '../../api/usage/usage.ts'
import { toFilterClause } from '../calls/calls-filter.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadJob } from '../read/read-job.ts'
import { FIND_CALL_USAGE } from './nested-usage.sql.ts'
import { SELECT_TRACES_OF_CALLS, selectUsageCalls } from './usage.sql.ts'
import { readReport } from './usage-rows.ts'

const ROWS_PER_CHECKPOINT = 1000

interface CallRow {
  readonly call_key: number
  readonly id: string
  readonly parent_id: string | null
  readonly started_at_us: number
  readonly ended_at_us: number | null
}

interface FoundCall extends UsageCall {
  readonly isFinished: boolean
}

export const sumTraceUsage: ReadJob<TraceUsageQuery, UsageResponse> = (db, query, checkpoint) => {
  const calls = findCalls(db, query, checkpoint)
  return {
    usage_counting: query.counting,
    call_usage: Object.fromEntries(rollUpUsage(calls, query.counting, query.prices !== null)),
    unfinished_call_ids: calls.filter(({ isFinished }) => !isFinished).map(({ id }) => id),
  }
}

export const sumCallsUsage: ReadJob<CallsUsageQuery, UsageResponse> = (db, query, checkpoint) => {
  const { project_id, prices, counting } = query
  const select = db.prepare(SELECT_TRACES_OF_CALLS).pluck()
  const call_ids = JSON.stringify(query.call_ids)
  const trace_ids = select.all({ project_id, call_ids }) as string[]
  const filter = { trace_ids }
  const calls =
    trace_ids.length === 0 ? [] : findCalls(db, { ...query, filter, expression: null }, checkpoint)
  const totals = rollUpUsage(calls, counting, prices !== null)
  const inTrees = descendantsOf(query.call_ids, calls)
  return {
    usage_counting: counting,
    call_usage: Object.fromEntries(query.call_ids.map((id) => [id, totals.get(id) ?? {}])),
    unfinished_call_ids: calls
      .filter(({ id, isFinished }) => !isFinished && inTrees.has(id))
      .map(({ id }) => id),
  }
}

function findCalls(
  db: Connection,
  { project_id, filter, expression, prices: own, limit }: TraceUsageQuery,
  checkpoint: () => void,
): FoundCall[] {
  const prices = layerPrices(own ?? [])
  const selectUsage = db.prepare(FIND_CALL_USAGE).raw()
  const isWanted = createSieve(expression)
  const calls: FoundCall[] = []
  let rows = 0
  for (const row of readCalls(db, project_id, filter)) {
    rows += 1
    if (rows % ROWS_PER_CHECKPOINT === 0) checkpoint()
    if (!isWanted(row)) continue
    if (calls.length === limit) throw tooMany(limit)
    const { call_key, id, parent_id, started_at_us, ended_at_us } = row
    calls.push({
      id,
      parent_id,
      isFinished: ended_at_us !== null,
      usage: (selectUsage.all({ call_key }) as unknown[][]).map((row) => readReport(row)),
      pricesOf: (model) => prices.find(model, started_at_us),
    })
  }
  return calls
}

function readCalls(
  db: Connection,
  project_id: string,
  filter: CallsFilter,
): IterableIterator<CallRow> {
  const { conditions, parameters } = toFilterClause(project_id, filter)
  const statement = db.prepare(selectUsageCalls(conditions))
  return statement.iterate({ project_id, ...parameters }) as IterableIterator<CallRow>
}

function createSieve(expression: Expression | null): (row: CallRow) => boolean {
  if (expression === null) return () => true
  const meets = createMatcher(expression)
  return (row) =>
    meets(([field, ...rest]) => {
      if (rest.length > 0) return undefined
      if (field === 'started_at') return timeValue(row.started_at_us)
      if (field === 'ended_at') return timeValue(row.ended_at_us)
      return row[field as keyof CallRow]
    })
}

/** The calls of these ids and all that they called. */
function descendantsOf(ids: readonly string[], calls: readonly UsageCall[]): Set<string> {
  const children = Map.groupBy(calls, ({ parent_id }) => parent_id)
  const found = new Set(ids)
  // The set grows while it is walked.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id)
  return found
}

function tooMany(limit: number): ApiError {
  const message = `There are more than ${limit} calls: raise the limit or narrow the filter.`
  return new ApiError('validation_failed', { param: 'limit', message })
}
