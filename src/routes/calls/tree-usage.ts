/** Joins to listed calls what they used together with their descendants, and how many of these failed. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import type { TreeTop } from '../../domain/calls/call-fields.ts'
import type { TreeUsage } from '../../domain/calls/call-view.ts'
import type { ProjectPrice } from '../../domain/prices/project-prices.ts'
import { ApiError } from '../../errors.ts'
import { TREE_CALLS_MAX, type UsageStore } from '../../store/api/usage/usage.ts'

interface TreesQuery {
  readonly project_id: string
  /** The project's own prices; null: no costs are wanted. */
  readonly prices: readonly ProjectPrice[] | null
}

/** Reads trees by the ids of their top calls. @throws ApiError what UsageStore throws, but for the limit */
export type TreeReader = (calls: readonly TreeTop[]) => Promise<ReadonlyMap<string, TreeUsage>>

/**
 * Spec: §2.5 summary (usage not shown). Choice: each token counts once, and of traces with more than TREE_CALLS_MAX calls
 * only failures are counted. The usage of such a trace is read once, for all pages of a list.
 */
export function createTreeReader(
  usage: UsageStore,
  query: TreesQuery,
  caller: ReadCaller,
): TreeReader {
  const tooLarge = new Set<string>()

  async function readTraces(
    traces: readonly (readonly TreeTop[])[],
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

  const readFailures = createFailuresReader(usage, query, caller)
  return async (calls) => {
    const wanted = calls.filter(({ trace_id }) => !tooLarge.has(trace_id))
    const traces = Map.groupBy(wanted, ({ trace_id }) => trace_id)
    const trees = await readTraces([...traces.values()])
    const rest = calls.filter(({ trace_id }) => tooLarge.has(trace_id))
    return new Map([...trees, ...(await readFailures(rest))])
  }
}

/** Reads only how many descendants failed. */
export function createFailuresReader(
  usage: UsageStore,
  { project_id }: Pick<TreesQuery, 'project_id'>,
  caller: ReadCaller,
): TreeReader {
  return async (calls) => {
    const trace_ids = [...new Set(calls.map(({ trace_id }) => trace_id))]
    if (trace_ids.length === 0) return new Map()
    const failures = await usage.countFailures({ project_id, trace_ids }, caller)
    return new Map(
      calls.flatMap(({ id, trace_id }) => {
        const failed = failures.get(trace_id)
        return failed ? [[id, { byModel: null, failedDescendants: failed.get(id) ?? 0 }]] : []
      }),
    )
  }
}
