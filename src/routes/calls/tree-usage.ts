/** Joins to listed calls what they used together with their descendants. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import type { TreeUsage } from '../../domain/calls/call-view.ts'
import type { ProjectPrice } from '../../domain/prices/project-prices.ts'
import { ApiError } from '../../errors.ts'
import type { UsageStore } from '../../store/api/usage/usage.ts'

/** Limit: calls of the traces that are summed up at once, at some 500 bytes each. */
const TREE_CALLS_MAX = 100_000

interface TreesQuery {
  readonly project_id: string
  readonly call_ids: readonly string[]
  /** The project's own prices; null: no costs are wanted. */
  readonly prices: readonly ProjectPrice[] | null
}

/**
 * Returns the usage of trees by the ids of their top calls.
 *
 * Spec: §2.5 summary (usage not shown). Choice: each token counts once, and calls of traces with more than TREE_CALLS_MAX
 * calls have no entry.
 *
 * @throws ApiError what UsageStore throws, but for the limit
 */
export async function readTrees(
  usage: UsageStore,
  { project_id, call_ids, prices }: TreesQuery,
  caller: ReadCaller,
): Promise<Map<string, TreeUsage>> {
  if (call_ids.length === 0) return new Map()
  const query = { project_id, prices, counting: 'own' as const, limit: TREE_CALLS_MAX }
  try {
    const { call_usage } = await usage.sumCallsUsage({ ...query, call_ids }, caller)
    return new Map(Object.entries(call_usage))
  } catch (error) {
    if (!(error instanceof ApiError) || error.param !== 'limit') throw error
    if (call_ids.length === 1) return new Map()
  }
  const half = Math.ceil(call_ids.length / 2)
  const parts = [call_ids.slice(0, half), call_ids.slice(half)]
  const trees = new Map<string, TreeUsage>()
  for (const part of parts) {
    const found = await readTrees(usage, { project_id, call_ids: part, prices }, caller)
    for (const [id, tree] of found) trees.set(id, tree)
  }
  return trees
}
