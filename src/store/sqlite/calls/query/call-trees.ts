/** Reads the descendants of the calls of a walk, where its selection needs them. */
import type { TreeTop } from '../../../../domain/calls/call-fields.ts'
import type { TreeUsage } from '../../../../domain/calls/call-view.ts'
import { type CallsSelection, pathsOfSelection } from '../../../../domain/calls/calls-query.ts'
import { treeNeedOfPaths } from '../../../../domain/calls/tree-fields.ts'
import { TREE_CALLS_MAX } from '../../../api/usage/usage.ts'
import { runInSlices } from '../../../base/read/pausing-work.ts'
import {
  createCallTrees,
  createTreeBudget,
  sumTrees,
  toTrees,
} from '../../../base/usage/call-trees.ts'
import { createFoundCalls } from '../../../base/usage/usage-trees.ts'
import type { Connection } from '../../db/connection.ts'
import type { Checkpoint } from '../../read/read-job.ts'
import { createFailuresRead } from '../../usage/failures.ts'
import { createTraceRead } from '../../usage/trace-calls.ts'

interface OpenTrees {
  /** Reads the traces of some calls, before treeOf is called for them. */
  load(calls: readonly TreeTop[]): Generator<void, void>
  treeOf(call: TreeTop): TreeUsage | null
}

/** Returns null when the selection needs no descendants. @param callsMax - default: the limit of createTreeBudget */
export function openCallTrees(
  db: Connection,
  selection: CallsSelection,
  checkpoint: Checkpoint,
  callsMax?: number,
): OpenTrees | null {
  const need = treeNeedOfPaths(pathsOfSelection(selection))
  if (need === null) return null
  const { project_id, prices } = selection
  const trees = createCallTrees()
  const readFailures = createFailuresRead(db, project_id, checkpoint)

  function* loadFailures(trace_ids: readonly string[]): Generator<void, void> {
    const failures = yield* readFailures(trace_ids)
    for (const trace_id of trace_ids) trees.add(trace_id, toTrees(failures.get(trace_id)))
  }

  const readTrace = createTraceRead(db, project_id, checkpoint)
  const found = createFoundCalls({ expression: null, prices, limit: Number.POSITIVE_INFINITY })
  const spend = createTreeBudget(selection, callsMax)

  function* loadUsage(trace_ids: readonly string[]): Generator<void, void> {
    for (const trace_id of trace_ids) {
      yield* readTrace(trace_id, found, TREE_CALLS_MAX)
      const calls = found.take()
      spend(calls.length)
      if (calls.length > TREE_CALLS_MAX) yield* loadFailures([trace_id])
      else trees.add(trace_id, yield* runInSlices(sumTrees(calls, prices !== null), checkpoint))
    }
  }

  const load = need === 'usage' ? loadUsage : loadFailures
  return { load: (calls) => load(trees.missing(calls)), treeOf: trees.treeOf }
}
