/** Reads the descendants of the calls of a walk, where its selection needs them. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadCaller } from '../../../../domain/access/read-caller.ts'
import type { TreeTop } from '../../../../domain/calls/call-fields.ts'
import type { TreeUsage } from '../../../../domain/calls/call-view.ts'
import { type CallsSelection, pathsOfSelection } from '../../../../domain/calls/calls-query.ts'
import { treeNeedOfPaths } from '../../../../domain/calls/tree-fields.ts'
import { ApiError } from '../../../../errors.ts'
import { TREE_CALLS_MAX } from '../../../api/usage/usage.ts'
import { runInTurns } from '../../../base/read/pausing-work.ts'
import {
  createCallTrees,
  createTreeBudget,
  sumTrees,
  toTrees,
} from '../../../base/usage/call-trees.ts'
import type { Reads } from '../../db/reads.ts'
import { findFailures } from '../../usage/failures.ts'
import { findTraces } from '../../usage/usage.ts'

interface OpenTrees {
  /** Reads the traces of some calls, before treeOf is called for them. */
  load(calls: readonly TreeTop[], caller: ReadCaller): Promise<void>
  treeOf(call: TreeTop): TreeUsage | null
}

/** Returns null when the selection needs no descendants. @param callsMax - default: the limit of createTreeBudget */
export function openCallTrees(
  reads: Reads,
  selection: CallsSelection,
  callsMax?: number,
): OpenTrees | null {
  const need = treeNeedOfPaths(pathsOfSelection(selection))
  if (need === null) return null
  const { project_id, prices } = selection
  const trees = createCallTrees()
  const spend = createTreeBudget(selection, callsMax)

  async function loadFailures(trace_ids: readonly string[], caller: ReadCaller): Promise<void> {
    if (trace_ids.length === 0) return
    const failures = await findFailures(reads, { project_id, trace_ids }, caller)
    for (const trace_id of trace_ids) trees.add(trace_id, toTrees(failures.get(trace_id)))
  }

  /** Traces that have too many calls together are read apart. */
  async function loadUsage(trace_ids: readonly string[], caller: ReadCaller): Promise<void> {
    const query = { project_id, trace_ids, prices, limit: TREE_CALLS_MAX }
    try {
      for (const calls of await findTraces(reads, query, caller)) {
        spend(calls.length)
        const summed = await runInTurns(sumTrees(calls, prices !== null), caller)
        trees.add(calls[0]?.trace_id ?? '', summed)
        // Other requests run between two traces.
        await nextTurn()
      }
      return
    } catch (error) {
      if (!(error instanceof ApiError) || error.param !== 'limit') throw error
    }
    if (trace_ids.length === 1) {
      spend(TREE_CALLS_MAX)
      return loadFailures(trace_ids, caller)
    }
    const half = Math.ceil(trace_ids.length / 2)
    await loadUsage(trace_ids.slice(0, half), caller)
    await loadUsage(trace_ids.slice(half), caller)
  }

  const load = need === 'usage' ? loadUsage : loadFailures
  return { load: (calls, caller) => load(trees.missing(calls), caller), treeOf: trees.treeOf }
}
