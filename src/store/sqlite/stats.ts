/**
 * Statistics in SQLite: one scan of narrow rows in order of time, summed up in TypeScript, in a read
 * thread. Never runs on the connection that writes.
 */

import { type BucketTable, createBucketTable } from '../../domain/bucket-table.ts'
import { latencyMs } from '../../domain/call-view.ts'
import type { ModelUsage } from '../../domain/usage.ts'
import { createUsageTables, tooLarge } from '../../domain/usage-tables.ts'
import type { CallMetric } from '../../schemas/stats.ts'
import type { StatsQuery, StatsResult, StatsStore } from '../api/stats.ts'
import { type FilterClause, toFilterClause } from './calls-filter.ts'
import type { Connection } from './connection.ts'
import { openPriceTable } from './prices.ts'
import type { ReadPool } from './read-pool.ts'
import { selectStatsCalls, selectStatsUsage } from './sql/stats.ts'

/** Limit: rows between two looks at whether somebody still waits. */
const CHECKPOINT_ROWS = 4096

type CallRow = [startedAtUs: number, endedAtUs: number | null, isError: number]
type UsageRow = [
  startedAtUs: number,
  model: string,
  input: number,
  output: number,
  total: number,
  cacheRead: number,
  cacheCreation: number,
  uncachedInput: number,
]

export function createStatsStore(reads: ReadPool): StatsStore {
  return { aggregate: (query, signal) => reads.run('stats', query, signal) }
}

/** The read job: both scans in one snapshot. @throws ApiError validation_failed */
export function aggregateStats(
  db: Connection,
  query: StatsQuery,
  checkpoint: () => void,
): StatsResult {
  const { callColumns, usageColumns, startsUs } = query
  if (callColumns.length * startsUs.length > query.valuesMax) throw tooLarge()
  const clause = toFilterClause(query.filter)
  const scan = { db, query, clause, checkpoint }
  const usage = createUsageTables({
    columns: usageColumns,
    buckets: startsUs.length,
    valuesMax: query.valuesMax - callColumns.length * startsUs.length,
    prices: openPriceTable(db, query.project_id),
  })
  const calls = callColumns.length > 0 ? scanCalls(scan) : null
  if (usageColumns.length > 0) scanUsage(scan, usage)
  return { calls, usage: usage.tables(), unpricedModels: usage.unpricedModels() }
}

interface Scan {
  readonly db: Connection
  readonly query: StatsQuery
  readonly clause: FilterClause
  readonly checkpoint: () => void
}

function scanCalls({ db, query, clause, checkpoint }: Scan): BucketTable {
  const builder = createBucketTable(query.callColumns, query.startsUs.length)
  const latency = builder.metrics.indexOf('latency_ms' satisfies CallMetric)
  const callCount = builder.metrics.indexOf('call_count' satisfies CallMetric)
  const errorCount = builder.metrics.indexOf('error_count' satisfies CallMetric)
  const rows = readRows<CallRow>(db, selectStatsCalls(clause.conditions), query, clause)
  const cursor = createCursor(query.startsUs, builder.flush, checkpoint)
  for (const [startedAtUs, endedAtUs, isError] of rows) {
    cursor.moveTo(startedAtUs)
    builder.countRow()
    if (latency !== -1 && endedAtUs !== null) {
      builder.add(latency, latencyMs(startedAtUs, endedAtUs))
    }
    if (callCount !== -1) builder.add(callCount, 1)
    if (errorCount !== -1) builder.add(errorCount, isError)
  }
  cursor.end()
  return builder.table
}

function scanUsage(
  { db, query, clause, checkpoint }: Scan,
  tables: ReturnType<typeof createUsageTables>,
): void {
  const rows = readRows<UsageRow>(db, selectStatsUsage(clause.conditions), query, clause)
  const cursor = createCursor(query.startsUs, tables.flush, checkpoint)
  for (const row of rows) {
    cursor.moveTo(row[0])
    tables.add(toUsage(row), row[0])
  }
  cursor.end()
}

function toUsage(row: UsageRow): ModelUsage {
  return {
    model: row[1],
    input_tokens: row[2],
    output_tokens: row[3],
    total_tokens: row[4],
    cache_read_input_tokens: row[5],
    cache_creation_input_tokens: row[6],
    uncached_input_tokens: row[7],
  }
}

function readRows<Row>(
  db: Connection,
  sql: string,
  { project_id, startUs, endUs }: StatsQuery,
  { parameters }: FilterClause,
): IterableIterator<Row> {
  const statement = db.prepare(sql).raw()
  return statement.iterate({
    project_id,
    start_us: startUs,
    end_us: endUs,
    ...parameters,
  }) as IterableIterator<Row>
}

/**
 * Walks the buckets along with rows in order of time, so that no row is searched its bucket.
 *
 * @param flush - called for each bucket that is left
 */
function createCursor(
  startsUs: Float64Array,
  flush: (bucket: number) => void,
  checkpoint: () => void,
) {
  let bucket = 0
  let rows = 0
  let nextUs = startsUs[1] ?? Number.POSITIVE_INFINITY
  return {
    moveTo(us: number): void {
      rows += 1
      if (rows % CHECKPOINT_ROWS === 0) checkpoint()
      if (us < nextUs) return
      flush(bucket)
      while (us >= nextUs) {
        bucket += 1
        nextUs = startsUs[bucket + 1] ?? Number.POSITIVE_INFINITY
      }
    },
    end(): void {
      flush(bucket)
    },
  }
}
