/** Statistics in SQLite, by buckets. */

import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { renderCallBuckets, renderUsageBuckets } from '../../../domain/stats/stats-view.ts'
import type { StatsQuery, StatsResult, StatsTexts } from '../../api/stats/stats.ts'
import { createStatsTables } from '../../base/stats/stats-tables.ts'
import type { HourParts, HourSums } from '../../base/stats/sums.ts'
import { toFilterClause } from '../calls/query/calls-filter.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint } from '../read/read-job.ts'
import { sumHour } from './segments/hour-stats.ts'
import type { HourView } from './segments/segment.ts'
import { type HourSink, readHours } from './stats-hours.ts'
import { createBucketRows, createRowScan } from './stats-rows.ts'

/** Limit: sums of one hour, by part and model; beyond it the rows are read. */
const PART_SUMS_MAX = 500_000

/** A result, and the hours whose segments turned out to be broken. */
interface StatsResponse {
  readonly result: StatsResult
  readonly broken: readonly number[]
}

/** The read job of `aggregate`. @throws ApiError validation_failed */
export function* aggregateStats(
  db: Connection,
  query: StatsQuery,
  checkpoint: Checkpoint,
): Generator<void, StatsResponse> {
  const clause = toFilterClause(db, query.project_id, query.filter)
  return yield* readHours(db, query, checkpoint, (): HourSink<HourSums[], StatsResult> => {
    const tables = createStatsTables({ ...query, prices: layerPrices(query.prices) })
    return {
      needsRows: false,
      holdsBuckets: true,
      sum: (views, parts, filter) =>
        views.every((view) => fitsInSums(view, parts))
          ? views.map((view) => sumHour(view, parts, filter, tables))
          : null,
      add: tables.addHour,
      leaveBuckets: tables.leaveBuckets,
      scanRows: createRowScan(db, clause, checkpoint, createBucketRows(db, clause, tables)),
      finish: tables.finish,
    }
  })
}

/** The read job of `render`. @throws ApiError validation_failed */
export function* renderStats(
  db: Connection,
  query: StatsQuery,
  checkpoint: Checkpoint,
): Generator<void, StatsTexts & Pick<StatsResponse, 'broken'>> {
  const { result, broken } = yield* aggregateStats(db, query, checkpoint)
  const { startsUs, callColumns, usageColumns } = query
  return {
    callBuckets: renderCallBuckets(startsUs, callColumns, result.calls),
    usageBuckets: renderUsageBuckets(startsUs, usageColumns, result.usage),
    unpricedModels: result.unpricedModels,
    reportedModels: result.reportedModels,
    broken,
  }
}

function fitsInSums({ slots, columns }: HourView, { bounds }: HourParts): boolean {
  const { models } = slots('own') ?? columns.usage()
  return models.length * bounds.length <= PART_SUMS_MAX
}
