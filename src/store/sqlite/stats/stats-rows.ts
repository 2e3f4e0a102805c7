/** Statistics from the rows: what no column tells, and hours without a segment. */

import type { ModelUsage } from '../../../domain/usage/usage.ts'
import type { FilterClause } from '../calls/calls-filter.ts'
import type { Connection } from '../db/connection.ts'
import { selectStatsCalls, selectStatsUsage } from './stats.sql.ts'
import type { StatsTables } from './stats-tables.ts'

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

/** Calls of a project that started in [startUs, endUs). */
export interface RowWindow {
  readonly project_id: string
  readonly startUs: number
  readonly endUs: number
}

/** Adds the rows of windows that are given in order of time. */
export function createRowScan(
  db: Connection,
  { conditions, parameters }: FilterClause,
  tables: StatsTables,
  checkpoint: () => void,
) {
  const selectCalls = db.prepare(selectStatsCalls(conditions)).raw()
  const selectUsage = db.prepare(selectStatsUsage(conditions)).raw()
  let rows = 0

  function count(): void {
    rows += 1
    if (rows % CHECKPOINT_ROWS === 0) checkpoint()
  }

  return function scanRows({ project_id, startUs: start_us, endUs: end_us }: RowWindow): void {
    const bound = { project_id, start_us, end_us, ...parameters }
    if (tables.wantsCalls) {
      for (const row of selectCalls.iterate(bound) as IterableIterator<CallRow>) {
        count()
        tables.addCall(...row)
      }
    }
    if (!tables.wantsUsage) return
    for (const row of selectUsage.iterate(bound) as IterableIterator<UsageRow>) {
      count()
      tables.addUsage(toUsage(row), row[0])
    }
  }
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
