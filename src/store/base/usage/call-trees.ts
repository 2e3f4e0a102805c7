/** What one read of calls knows of the descendants of its calls, trace by trace. Pure. */
import type { TreeTop } from '../../../domain/calls/call-fields.ts'
import type { TreeUsage } from '../../../domain/calls/call-view.ts'
import { isBefore } from '../../../domain/usage/request-identity.ts'
import { countFailedBelow } from '../../../domain/usage/usage-rollup.ts'
import type { FailuresByTrace } from '../../api/usage/usage.ts'

/** Limit: calls and traces that are remembered, at some 500 bytes each; then the memory is cleared. */
const REMEMBERED_MAX = 100_000

/** The trees of the calls of a trace; null: it has too many calls. */
type TraceTrees = ReadonlyMap<string, TreeUsage> | null

/** A call of which nothing failed that is known. */
const UNHARMED: TreeUsage = { byModel: null, failedDescendants: 0 }

export function createCallTrees() {
  const traces = new Map<string, TraceTrees>()
  let size = 0
  return {
    /** The traces of some calls that must be added before treeOf is called for them. Others may be forgotten. */
    missing(calls: readonly TreeTop[]): string[] {
      if (size > REMEMBERED_MAX) {
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
      return trees ? (trees.get(id) ?? UNHARMED) : null
    },
  }
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
export function countFailures(
  trace_ids: readonly string[],
  calls: readonly BranchCall[],
): FailuresByTrace {
  const traces = Map.groupBy(calls, ({ trace_id }) => trace_id)
  return new Map(
    trace_ids.map((trace_id) => {
      const found = (traces.get(trace_id) ?? []).map((call) => ({
        ...call,
        isFailed: call.is_failed === 1,
      }))
      // The order decides where calls are above themselves.
      return [trace_id, countFailedBelow(found.sort((a, b) => (isBefore(a, b) ? -1 : 1)))]
    }),
  )
}
