/** Usage over trees of calls: which calls count, and the results. Pure. */
import { findPricing } from '../../../domain/prices/cost.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import type { Expression } from '../../../domain/query/query-expression.ts'
import { createMatcher } from '../../../domain/query/query-matcher.ts'
import { timeValue } from '../../../domain/query/query-values.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import {
  countFailedBelow,
  type PausingWork,
  rollUpUsage,
  type UsageCall,
} from '../../../domain/usage/usage-rollup.ts'
import { ApiError } from '../../../errors.ts'
import type { UsageResponse } from '../../../schemas/usage/usage.ts'
import type { CallsUsageQuery, TraceUsageQuery } from '../../api/usage/usage.ts'

export interface FoundCall extends UsageCall {
  readonly trace_id: string
  readonly isFinished: boolean
  readonly isFailed: boolean
}

/** The columns of a call that are read, besides those that an expression names. */
interface CallRow {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly started_at_us: number
  readonly ended_at_us: number | null
  readonly exception: string | null
}

/** The usage of a call, and what identifies the request that it reports. */
interface FoundUsage {
  readonly usage: readonly CallUsage[]
  readonly request: string | null
}

/** Gathers the calls of a query. */
export function createFoundCalls({
  expression,
  prices: own,
  limit,
}: Pick<TraceUsageQuery, 'expression' | 'prices' | 'limit'>) {
  const prices = layerPrices(own ?? [])
  const isWanted = createSieve(expression)
  const calls: FoundCall[] = []
  return {
    /** Removes the calls that were added, and returns them. */
    take: (): FoundCall[] => calls.splice(0),
    /** @param readUsage - called for a wanted call. @throws ApiError when there are more than the limit */
    add(row: CallRow, readUsage: () => FoundUsage): void {
      if (!isWanted(row)) return
      if (calls.length === limit) throw tooMany(limit)
      const { id, trace_id, parent_id, started_at_us, ended_at_us, exception } = row
      calls.push({
        id,
        trace_id,
        parent_id,
        started_at_us,
        isFinished: ended_at_us !== null,
        isFailed: exception !== null,
        ...readUsage(),
        pricesOf: (used) => findPricing(prices, used, started_at_us),
      })
    },
  }
}

/** Returns a predicate for calls that meet an expression; null accepts all. */
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

/** Returns the result for each of these calls. */
export function* renderTraceUsage(
  calls: readonly FoundCall[],
  { counting, prices }: TraceUsageQuery,
): PausingWork<UsageResponse> {
  const totals = yield* rollUpUsage(calls, counting, prices !== null)
  const failed = yield* countFailedBelow(calls)
  return {
    usage_counting: counting,
    call_usage: Object.fromEntries(totals),
    failed_descendants: Object.fromEntries(failed),
    unfinished_call_ids: calls.filter(({ isFinished }) => !isFinished).map(({ id }) => id),
  }
}

/** The calls of each trace: none counts in another one, whichever traces are read together. */
export function byTrace(calls: readonly FoundCall[]): FoundCall[][] {
  return [...Map.groupBy(calls, ({ trace_id }) => trace_id).values()]
}

/** Returns the result for the requested calls. @param traces - all calls of each of their traces */
export function* renderCallsUsage(
  traces: readonly (readonly FoundCall[])[],
  { call_ids, counting, prices }: CallsUsageQuery,
): PausingWork<UsageResponse> {
  const wanted = new Set(call_ids)
  const totals: Map<string, UsageResponse['call_usage'][string]> = new Map()
  const failures = new Map<string, number>()
  for (const id of call_ids) totals.set(id, {})
  for (const calls of traces) {
    for (const [id, used] of yield* rollUpUsage(calls, counting, prices !== null)) {
      if (wanted.has(id)) totals.set(id, used)
    }
    for (const [id, count] of yield* countFailedBelow(calls)) {
      if (wanted.has(id)) failures.set(id, count)
    }
  }
  const open = traces.flatMap((calls) => {
    const ids = calls.flatMap(({ id }) => (wanted.has(id) ? [id] : []))
    const inTrees = descendantsOf(ids, calls)
    return calls.filter(({ id, isFinished }) => !isFinished && inTrees.has(id))
  })
  return {
    usage_counting: counting,
    call_usage: Object.fromEntries(totals),
    failed_descendants: Object.fromEntries(failures),
    unfinished_call_ids: open.map(({ id }) => id),
  }
}

/** Returns the ids of these calls and of all their descendants. */
function descendantsOf(ids: readonly string[], calls: readonly UsageCall[]): Set<string> {
  const children = Map.groupBy(calls, ({ parent_id }) => parent_id)
  const found = new Set(ids)
  // The set grows during the iteration.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id)
  return found
}

/** Returns the error for a query over more calls than its limit. */
function tooMany(limit: number): ApiError {
  const message = `There are more than ${limit} calls: raise the limit or narrow the filter.`
  return new ApiError('validation_failed', { param: 'limit', message })
}
