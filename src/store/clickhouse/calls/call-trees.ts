/** Reads the descendants of the calls of a walk, where its selection needs them. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { TreeTop } from '../../../domain/calls/call-fields.ts'
import type { TreeUsage } from '../../../domain/calls/call-view.ts'
import { type CallsSelection, pathsOfSelection } from '../../../domain/calls/calls-query.ts'
import { treeNeedOfPaths } from '../../../domain/calls/tree-fields.ts'
import { createCallTrees, toTrees } from '../../base/usage/call-trees.ts'
import type { Reads } from '../db/reads.ts'
import { findFailures } from '../usage/failures.ts'

interface OpenTrees {
  /** Reads the traces of some calls, before treeOf is called for them. */
  load(calls: readonly TreeTop[], caller: ReadCaller): Promise<void>
  treeOf(call: TreeTop): TreeUsage | null
}

/** Returns null when the selection needs no descendants. */
export function openCallTrees(reads: Reads, selection: CallsSelection): OpenTrees | null {
  const need = treeNeedOfPaths(pathsOfSelection(selection))
  if (need === null) return null
  const { project_id } = selection
  const trees = createCallTrees()
  return {
    async load(calls, caller) {
      const trace_ids = trees.missing(calls)
      if (trace_ids.length === 0) return
      const failures = await findFailures(reads, { project_id, trace_ids }, caller)
      for (const trace_id of trace_ids) trees.add(trace_id, toTrees(failures.get(trace_id)))
    },
    treeOf: trees.treeOf,
  }
}
