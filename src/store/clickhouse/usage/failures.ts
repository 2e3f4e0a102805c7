/** Counts failed descendants in ClickHouse, from all calls of the traces in which one failed. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { type FailuresByTrace, type FailuresQuery, TREE_CALLS_MAX } from '../../api/usage/usage.ts'
import { runInTurns } from '../../base/read/pausing-work.ts'
import { type BranchCall, countFailures } from '../../base/usage/call-trees.ts'
import type { Reads } from '../db/reads.ts'
import { SELECT_FAILED_TRACES } from './usage.sql.ts'

/** Limit: traces that one statement reads. */
const PART_TRACES = 1000

export async function findFailures(
  reads: Reads,
  { project_id, trace_ids }: FailuresQuery,
  caller: ReadCaller,
): Promise<FailuresByTrace> {
  async function readPart(part: readonly string[]): Promise<FailuresByTrace> {
    const limit = TREE_CALLS_MAX + 1
    const parameters = { project_id, trace_ids: part, limit }
    const found = await reads.read<BranchCall>(SELECT_FAILED_TRACES, parameters, caller)
    if (found.length < limit) return runInTurns(countFailures(part, found), caller)
    if (part.length === 1) return new Map()
    const half = Math.ceil(part.length / 2)
    const first = await readPart(part.slice(0, half))
    return new Map([...first, ...(await readPart(part.slice(half)))])
  }

  const failures = new Map<string, ReadonlyMap<string, number>>()
  for (let at = 0; at < trace_ids.length; at += PART_TRACES) {
    const part = await readPart(trace_ids.slice(at, at + PART_TRACES))
    for (const [trace_id, counts] of part) failures.set(trace_id, counts)
  }
  return failures
}
