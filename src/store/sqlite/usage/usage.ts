/** Usage over trees of calls in SQLite, summed up in TypeScript in a reader. */

import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { ANY_TIME } from '../../../domain/query/time-bounds.ts'
import { rollUpUsage } from '../../../domain/usage/usage-rollup.ts'
import type { UsageResponse } from '../../../schemas/usage/usage.ts'
import type { CallsUsageQuery, TraceUsageQuery } from '../../api/usage/usage.ts'
import {
  createSieve,
  descendantsOf,
  type FoundCall,
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
  const calls = yield* findCalls(db, query, checkpoint)
  return {
    usage_counting: query.counting,
    call_usage: Object.fromEntries(rollUpUsage(calls, query.counting, query.prices !== null)),
    unfinished_call_ids: calls.filter(({ isFinished }) => !isFinished).map(({ id }) => id),
  }
}

export const sumCallsUsage: ReadJob<CallsUsageQuery, UsageResponse> = function* (
  db,
  query,
  checkpoint,
) {
  const { project_id, prices, counting } = query
  const select = db.prepare(SELECT_TRACES_OF_CALLS).pluck()
  const call_ids = JSON.stringify(query.call_ids)
  const trace_ids = select.all({ project_id, call_ids }) as string[]
  const filter = { trace_ids }
  const calls =
    trace_ids.length === 0
      ? []
      : yield* findCalls(db, { ...query, filter, expression: null }, checkpoint)
  const totals = rollUpUsage(calls, counting, prices !== null)
  const inTrees = descendantsOf(query.call_ids, calls)
  return {
    usage_counting: counting,
    call_usage: Object.fromEntries(query.call_ids.map((id) => [id, totals.get(id) ?? {}])),
    unfinished_call_ids: calls
      .filter(({ id, isFinished }) => !isFinished && inTrees.has(id))
      .map(({ id }) => id),
  }
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
