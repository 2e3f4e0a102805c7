/** Counts failed descendants in SQLite: from failed calls, which are few, up to their roots. */
import { type FailuresByTrace, type FailuresQuery, TREE_CALLS_MAX } from '../../api/usage/usage.ts'
import { runInSlices } from '../../base/read/pausing-work.ts'
import { type BranchCall, countFailures } from '../../base/usage/call-trees.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { SELECT_FAILED_BRANCHES } from './usage.sql.ts'

/** Limit: traces that one statement reads. */
const PART_TRACES = 256

export const findFailures: ReadJob<FailuresQuery, FailuresByTrace> = (db, query, checkpoint) =>
  createFailuresRead(db, query.project_id, checkpoint)(query.trace_ids)

/** Creates a read of traces, which pauses. */
export function createFailuresRead(db: Connection, project_id: string, checkpoint: Checkpoint) {
  const select = db.prepare(SELECT_FAILED_BRANCHES)

  function* readPart(trace_ids: readonly string[]): Generator<void, FailuresByTrace> {
    const limit = TREE_CALLS_MAX + 1
    const found = select.all({ project_id, trace_ids: JSON.stringify(trace_ids), limit })
    if (checkpoint()) yield
    if (found.length < limit) {
      return yield* runInSlices(countFailures(trace_ids, found as BranchCall[]), checkpoint)
    }
    if (trace_ids.length === 1) return new Map()
    const half = Math.ceil(trace_ids.length / 2)
    const first = yield* readPart(trace_ids.slice(0, half))
    return new Map([...first, ...(yield* readPart(trace_ids.slice(half)))])
  }

  return function* readFailures(trace_ids: readonly string[]): Generator<void, FailuresByTrace> {
    const failures = new Map<string, ReadonlyMap<string, number>>()
    for (let at = 0; at < trace_ids.length; at += PART_TRACES) {
      const part = yield* readPart(trace_ids.slice(at, at + PART_TRACES))
      for (const [trace_id, counts] of part) failures.set(trace_id, counts)
    }
    return failures
  }
}
