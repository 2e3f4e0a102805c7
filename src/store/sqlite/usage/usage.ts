/** Usage over trees of calls in SQLite, summed up in TypeScript in a reader. */

import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { ANY_TIME } from '../../../domain/query/time-bounds.ts'
import type { UsageResponse } from '../../../schemas/usage/usage.ts'
import type { CallsUsageQuery, TraceUsageQuery } from '../../api/usage/usage.ts'
import {
  createSieve,
  type FoundCall,
  renderCallsUsage,
  renderTraceUsage,
  tooMany,
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
import { SELECT_TRACES_OF_CALLS } from './usage.sql.ts'
import { readReport } from './usage-rows.ts'

export const sumTraceUsage: ReadJob<TraceUsageQuery, UsageResponse> = function* (
  db,
  query,
  checkpoint,
) {
  return renderTraceUsage(yield* findCalls(db, query, checkpoint), query)
}

export const sumCallsUsage: ReadJob<CallsUsageQuery, UsageResponse> = function* (
  db,
  query,
  checkpoint,
) {
  const { project_id } = query
  const select = db.prepare(SELECT_TRACES_OF_CALLS).pluck()
  const call_ids = JSON.stringify(query.call_ids)
  const filter = { trace_ids: select.all({ project_id, call_ids }) as string[] }
  const calls =
    filter.trace_ids.length === 0
      ? []
      : yield* findCalls(db, { ...query, filter, expression: null }, checkpoint)
  return renderCallsUsage(calls, query)
}

/** Finds the calls of a query; pauses, because it may visit many calls for each match. */
function* findCalls(
  db: Connection,
  { project_id, filter, expression, prices: own, limit }: TraceUsageQuery,
  checkpoint: Checkpoint,
): Generator<void, FoundCall[]> {
  const prices = layerPrices(own ?? [])
  const selectUsage = db.prepare(FIND_CALL_USAGE).raw()
  const isWanted = createSieve(expression)
  const calls: FoundCall[] = []

  function take(row: ScannedRow): boolean {
    if (!isWanted(row)) return true
    if (calls.length === limit) throw tooMany(limit)
    const { call_key, id, parent_id, started_at_us, ended_at_us } = row
    calls.push({
      id,
      parent_id,
      isFinished: ended_at_us !== null,
      usage: (selectUsage.all({ call_key }) as unknown[][]).map((row) => readReport(row)),
      pricesOf: (model) => prices.find(model, started_at_us),
    })
    return true
  }

  const selection = { project_id, filter, startedUs: ANY_TIME, direction: 'asc' } as const
  const readCalls = createCallReader(db, new Set(), new Set(NAMED_COLUMNS), checkpoint)
  yield* walkKeys(db, selection, beginWalk(db), checkpoint, (found) => readCalls(found, take))
  return calls
}
