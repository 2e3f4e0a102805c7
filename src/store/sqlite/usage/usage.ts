/** Usage over trees of calls in SQLite, summed up in TypeScript in a reader. */

import { ANY_TIME } from '../../../domain/query/time-bounds.ts'
import type { UsageResponse } from '../../../schemas/usage/usage.ts'
import type { CallsUsageQuery, TraceUsageQuery } from '../../api/usage/usage.ts'
import { runInSlices } from '../../base/read/pausing-work.ts'
import {
  byTrace,
  createFoundCalls,
  renderCallsUsage,
  renderTraceUsage,
} from '../../base/usage/usage-trees.ts'
import { NAMED_COLUMNS } from '../calls/query/calls-query.sql.ts'
import {
  beginWalk,
  createCallReader,
  type ScannedRow,
  walkKeys,
} from '../calls/query/calls-walk.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { FIND_CALL_USAGE } from './nested-usage.sql.ts'
import { createTraceRead } from './trace-calls.ts'
import { SELECT_TRACES_OF_CALLS } from './usage.sql.ts'
import { FIND_REQUEST } from './usage-requests.sql.ts'
import { readReport } from './usage-rows.ts'

export const sumTraceUsage: ReadJob<TraceUsageQuery, UsageResponse> = function* (
  db,
  query,
  checkpoint,
) {
  const calls = yield* findCalls(db, query, checkpoint)
  return yield* runInSlices(renderTraceUsage(calls, query), checkpoint)
}

export const sumCallsUsage: ReadJob<CallsUsageQuery, UsageResponse> = function* (
  db,
  query,
  checkpoint,
) {
  const { project_id, limit } = query
  const select = db.prepare(SELECT_TRACES_OF_CALLS).pluck()
  const call_ids = JSON.stringify(query.call_ids)
  const found = createFoundCalls({ ...query, expression: null })
  const readTrace = createTraceRead(db, project_id, checkpoint)
  for (const trace_id of select.all({ project_id, call_ids }) as string[]) {
    yield* readTrace(trace_id, found, limit)
  }
  return yield* runInSlices(renderCallsUsage(byTrace(found.take()), query), checkpoint)
}

/** Finds the calls of a query; pauses, because it may visit many calls for each match. */
function* findCalls(db: Connection, query: TraceUsageQuery, checkpoint: Checkpoint) {
  const { project_id, filter } = query
  const selectUsage = db.prepare(FIND_CALL_USAGE).raw()
  const findRequest = db.prepare(FIND_REQUEST).pluck()
  const found = createFoundCalls(query)

  function take(row: ScannedRow): boolean {
    const { call_key } = row
    found.add(row, () => ({
      usage: (selectUsage.all({ call_key }) as unknown[][]).map((one) => readReport(one)),
      request: (findRequest.get({ call_key }) as string | null | undefined) ?? null,
    }))
    return true
  }

  const selection = { project_id, filter, startedUs: ANY_TIME, direction: 'asc' } as const
  const readCalls = createCallReader(db, new Set(), new Set(NAMED_COLUMNS), checkpoint)
  yield* walkKeys(db, selection, beginWalk(db), checkpoint, (keys) => readCalls(keys, take))
  return found.take()
}
