/** Usage and failures below calls, cached by trace for one read. Pure. */
import type { TreeTop } from '../../../domain/calls/call-fields.ts'
import type { TreeUsage } from '../../../domain/calls/call-view.ts'
import type { CallsSelection } from '../../../domain/calls/calls-query.ts'
import { treeNeedOfPaths } from '../../../domain/calls/tree-fields.ts'
import { fieldPaths } from '../../../domain/query/query-expression.ts'
import { isBefore } from '../../../domain/usage/request-identity.ts'
import {
  countFailedBelow,
  createYieldCounter,
  type PausingWork,
  rollUpUsage,
} from '../../../domain/usage/usage-rollup.ts'
import { ApiError } from '../../../errors.ts'
import type { FailuresByTrace } from '../../api/usage/usage.ts'
import type { FoundCall } from './usage-trees.ts'

/** Limit: calls and traces that are cached, at some 500 bytes each; then the cache is cleared. */
const CACHED_MAX = 100_000

/** The trees of the calls of a trace; null: it has too many calls. */
type TraceTrees = ReadonlyMap<string, TreeUsage> | null

/** Limit: calls whose usage one read sums up to compare trees; some 9 seconds of processor time. */
const COMPARED_MAX = 500_000

/**
 * Counts the calls whose usage a read has summed up.
 *
 * Spec: §2.7 (queries are an addition). Choice: the usage of trees is summed up when it is asked for, since late calls,
 * deletions and prices change it, and only of a bounded number of calls.
 *
 * @throws ApiError validation_failed beyond callsMax
 */
export function createTreeBudget(
  { expression }: Pick<CallsSelection, 'expression'>,
  callsMax = COMPARED_MAX,
) {
  const isInQuery = expression !== null && treeNeedOfPaths(fieldPaths(expression)) === 'usage'
  let calls = 0
  return (more: number): void => {
    calls += more
    if (calls <= callsMax) return
    const message =
      `To compare trees, more than ${callsMax} calls would be read: narrow started_at in the query, ` +
      'or choose fewer calls by the filter.'
    throw new ApiError('validation_failed', { param: isInQuery ? 'query' : 'sort_by', message })
  }
}

/** A call without a known failure below it. */
const NO_FAILURES: TreeUsage = { byModel: null, failedDescendants: 0 }

export function createCallTrees() {
  const traces = new Map<string, TraceTrees>()
  let size = 0
  return {
    /** The traces of some calls that must be added before treeOf is called for them. Other traces may leave the cache. */
    missing(calls: readonly TreeTop[]): string[] {
      if (size > CACHED_MAX) {
        traces.clear()
        size = 0
      }
      const wanted = new Set(calls.map(({ trace_id }) => trace_id))
      return [...wanted].filter((trace_id) => !traces.has(trace_id))
    },
    add(trace_id: string, trees: TraceTrees): void {
      traces.set(trace_id, trees)
      size += 1 + (trees?.size ?? 0)
    },
    treeOf({ trace_id, id }: TreeTop): TreeUsage | null {
      const trees = traces.get(trace_id)
      return trees ? (trees.get(id) ?? NO_FAILURES) : null
    },
  }
}

/** The trees of all calls of a trace. @param includeCosts - false leaves all money null */
export function* sumTrees(
  calls: readonly FoundCall[],
  includeCosts: boolean,
): PausingWork<TraceTrees> {
  const totals = yield* rollUpUsage(calls, 'own', includeCosts)
  const failed = yield* countFailedBelow(calls)
  const isYieldDue = createYieldCounter()
  const trees = new Map<string, TreeUsage>()
  for (const { id } of calls) {
    if (isYieldDue()) yield
    trees.set(id, { byModel: totals.get(id) ?? {}, failedDescendants: failed.get(id) ?? 0 })
  }
  return trees
}

/** Trees of which only failures are known. @param failures - undefined: too many */
export function toTrees(failures: ReadonlyMap<string, number> | undefined): TraceTrees {
  if (failures === undefined) return null
  const trees = [...failures].map(([id, failedDescendants]): [string, TreeUsage] => [
    id,
    { byModel: null, failedDescendants },
  ])
  return new Map(trees)
}

/** A failed call, or one above a failed call. */
export interface BranchCall {
  readonly trace_id: string
  readonly id: string
  readonly parent_id: string | null
  readonly started_at_us: number
  readonly is_failed: 0 | 1
}

/**
 * Counts the failed descendants of the calls of some traces.
 *
 * @param calls - all failed calls of the traces with all calls above them, in any order
 */
export function* countFailures(
  trace_ids: readonly string[],
  calls: readonly BranchCall[],
): PausingWork<FailuresByTrace> {
  const traces = Map.groupBy(calls, ({ trace_id }) => trace_id)
  const failures = new Map<string, ReadonlyMap<string, number>>()
  for (const trace_id of trace_ids) {
    const found = (traces.get(trace_id) ?? []).map((call) => ({
      ...call,
      isFailed: call.is_failed === 1,
    }))
    // The order decides where calls are above themselves.
    const sorted = found.sort((a, b) => (isBefore(a, b) ? -1 : 1))
    failures.set(trace_id, yield* countFailedBelow(sorted))
  }
  return failures
}
