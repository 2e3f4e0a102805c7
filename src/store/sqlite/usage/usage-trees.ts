/** What usage over trees of calls is made of besides their rows: which calls count, and which lie below others. Pure. */
import type { Expression } from '../../../domain/query/query-expression.ts'
import { createMatcher } from '../../../domain/query/query-matcher.ts'
import { timeValue } from '../../../domain/query/query-values.ts'
import type { UsageCall } from '../../../domain/usage/usage-rollup.ts'
import { ApiError } from '../../../errors.ts'

export interface FoundCall extends UsageCall {
  readonly isFinished: boolean
}

/** What a sieve looks at by name, besides the other columns of a call. */
interface SievedRow {
  readonly started_at_us: number
  readonly ended_at_us: number | null
}

/** Whether a call meets an expression; null is met by all. */
export function createSieve(expression: Expression | null): (row: SievedRow) => boolean {
  if (expression === null) return () => true
  const meets = createMatcher(expression)
  return (row) =>
    meets(([field, ...rest]) => {
      if (rest.length > 0) return undefined
      if (field === 'started_at') return timeValue(row.started_at_us)
      if (field === 'ended_at') return timeValue(row.ended_at_us)
      return row[field as keyof SievedRow]
    })
}

/** The calls of these ids and all that they called. */
export function descendantsOf(ids: readonly string[], calls: readonly UsageCall[]): Set<string> {
  const children = Map.groupBy(calls, ({ parent_id }) => parent_id)
  const found = new Set(ids)
  // The set grows while it is walked.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id)
  return found
}

/** The refusal of a question about more calls than its limit. */
export function tooMany(limit: number): ApiError {
  const message = `There are more than ${limit} calls: raise the limit or narrow the filter.`
  return new ApiError('validation_failed', { param: 'limit', message })
}
