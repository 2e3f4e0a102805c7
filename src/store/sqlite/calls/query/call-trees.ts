/** Reads the descendants of the calls of a walk, where its selection needs them. */
import type { TreeTop } from '../../../../domain/calls/call-fields.ts'
import type { TreeUsage } from '../../../../domain/calls/call-view.ts'
import { type CallsSelection, pathsOfSelection } from '../../../../domain/calls/calls-query.ts'
import { treeNeedOfPaths } from '../../../../domain/calls/tree-fields.ts'
import { createCallTrees, toTrees } from '../../../base/usage/call-trees.ts'
import type { Connection } from '../../db/connection.ts'
import type { Checkpoint } from '../../read/read-job.ts'
import { createFailuresRead } from '../../usage/failures.ts'

interface OpenTrees {
  /** Reads the traces of some calls, before treeOf is called for them. */
  load(calls: readonly TreeTop[]): Generator<void, void>
  treeOf(call: TreeTop): TreeUsage | null
}

/** Returns null when the selection needs no descendants. */
export function openCallTrees(
  db: Connection,
  selection: CallsSelection,
  checkpoint: Checkpoint,
): OpenTrees | null {
  const need = treeNeedOfPaths(pathsOfSelection(selection))
  if (need === null) return null
  const trees = createCallTrees()
  const readFailures = createFailuresRead(db, selection.project_id, checkpoint)
  return {
    *load(calls) {
      const trace_ids = trees.missing(calls)
      const failures = yield* readFailures(trace_ids)
      for (const trace_id of trace_ids) trees.add(trace_id, toTrees(failures.get(trace_id)))
    },
    treeOf: trees.treeOf,
  }
}
