/** Statistics from rows: for filters that columns cannot evaluate, and for hours without a segment. */

import type { TimeBounds } from '../../../domain/query/time-bounds.ts'
import { excludedCounts } from '../../../domain/usage/own-usage.ts'
import type { StatsTables } from '../../base/stats/stats-tables.ts'
import type { FilterClause } from '../calls/query/calls-filter.ts'
import { cutTime } from '../calls/query/calls-walk.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint } from '../read/read-job.ts'
import { readCounted } from '../usage/usage-rows.ts'
import { selectStatsCalls, selectStatsUsage } from './stats.sql.ts'

/** Limit: rows between two checkpoints, which notice a cancelled read. */
const CHECKPOINT_ROWS = 4096

type CallRow = [startedAtUs: number, endedAtUs: number | null, isError: number]
/** Followed by the columns of a row of usage. */
type UsageRow = [startedAtUs: number, ...usage: unknown[]]

/** Calls of a project that started in [startUs, endUs). */
interface RowWindow {
  readonly project_id: string
  readonly startUs: number
  readonly endUs: number
}

/**
 * Returns a generator that adds the rows of a window, called with windows in time order, and returns whether it paused.
 * It does not pause when an index finds few calls.
 */
export function createRowScan(
  db: Connection,
  { conditions, parameters }: FilterClause,
  tables: StatsTables,
  checkpoint: Checkpoint,
) {
  const selectCalls = db.prepare(selectStatsCalls(conditions)).raw()
  const selectUsage = db.prepare(selectStatsUsage(conditions)).raw()
  const skipped = excludedCounts(tables.counting)
  let rows = 0

  function count(): void {
    rows += 1
    if (rows % CHECKPOINT_ROWS === 0) checkpoint()
  }

  function scanPart(project_id: string, { from, to }: TimeBounds): void {
    const bound = { project_id, start_us: from, end_us: to + 1, ...parameters }
    if (tables.wantsCalls) {
      for (const row of selectCalls.iterate(bound) as IterableIterator<CallRow>) {
        count()
        tables.addCall(...row)
      }
    }
    if (!tables.wantsUsage) return
    for (const row of selectUsage.iterate(bound) as IterableIterator<UsageRow>) {
      count()
      for (const usage of readCounted(row, 1)) {
        if (usage.counts !== skipped) tables.addUsage(usage, row[0])
      }
    }
  }

  return function* scanRows({ project_id, startUs, endUs }: RowWindow): Generator<void, boolean> {
    const startedUs = { from: startUs, to: endUs - 1 }
    let hasPaused = false
    const window = { project_id, startedUs, direction: 'asc' } as const
    for (const part of cutTime(db, conditions, window, { after_us: Number.NaN })) {
      scanPart(project_id, part)
      if (!checkpoint()) continue
      yield
      hasPaused = true
    }
    return hasPaused
  }
}
