/** Joins to listed calls what they used together with their descendants. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import type { StoredCall, TreeUsage } from '../../domain/calls/call-view.ts'
import type { ProjectPrice } from '../../domain/prices/project-prices.ts'
import { ApiError } from '../../errors.ts'
import type { UsageStore } from '../../store/api/usage/usage.ts'

/** Limit: calls of the traces that are summed up at once, at some 500 bytes each. */
const TREE_CALLS_MAX = 100_000

interface TreesQuery {
  readonly project_id: string
  /** The project's own prices; null: no costs are wanted. */
  readonly prices: readonly ProjectPrice[] | null
}

type TopCall = Pick<StoredCall, 'id' | 'trace_id'>

/** Reads the usage of trees by the ids of their top calls. @throws ApiError what UsageStore throws, but for the limit */
export type TreeReader = (calls: readonly TopCall[]) => Promise<ReadonlyMap<string, TreeUsage>>

/**
 * Spec: §2.5 summary (usage not shown). Choice: each token counts once, and calls of traces with more than TREE_CALLS_MAX
 * calls have no entry. Such a trace is read once, for all pages of a list.
 */
export function createTreeReader(
  usage: UsageStore,
  query: TreesQuery,
  caller: ReadCaller,
): TreeReader {
  const tooLarge = new Set<string>()

  async function readTraces(
    traces: readonly (readonly TopCall[])[],
  ): Promise<[string, TreeUsage][]> {
    if (traces.length === 0) return []
    const call_ids = traces.flat().map(({ id }) => id)
    try {
      const wanted = { ...query, call_ids, counting: 'own', limit: TREE_CALLS_MAX } as const
      const found = await usage.sumCallsUsage(wanted, caller)
      return Object.entries(found.call_usage).map(([id, byModel]) => [
        id,
        { byModel, failedDescendants: found.failed_descendants[id] ?? 0 },
      ])
    } catch (error) {
      if (!(error instanceof ApiError) || error.param !== 'limit') throw error
    }
    if (traces.length === 1) {
      for (const { trace_id } of traces[0] ?? []) tooLarge.add(trace_id)
      return []
    }
    const half = Math.ceil(traces.length / 2)
    const first = await readTraces(traces.slice(0, half))
    return [...first, ...(await readTraces(traces.slice(half)))]
  }

  return async (calls) => {
    const wanted = calls.filter(({ trace_id }) => !tooLarge.has(trace_id))
    const traces = Map.groupBy(wanted, ({ trace_id }) => trace_id)
    return new Map(await readTraces([...traces.values()]))
  }
}
