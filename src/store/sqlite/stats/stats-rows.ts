/** Statistics from rows: for filters that columns cannot evaluate, and for hours without a segment. */

import { groupsOf } from '../../../domain/stats/groups.ts'
import { excludedCounts } from '../../../domain/usage/own-usage.ts'
import type { ModelUsage } from '../../../domain/usage/usage.ts'
import type { GroupsQuery } from '../../api/stats/stats.ts'
import type { GroupTables } from '../../base/stats/group-tables.ts'
import type { StatsTables } from '../../base/stats/stats-tables.ts'
import type { FilterClause } from '../calls/query/calls-filter.ts'
import { cutTime } from '../calls/query/calls-walk.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint } from '../read/read-job.ts'
import { readCounted } from '../usage/usage-rows.ts'
import { selectGroupCalls, selectStatsCalls, selectStatsUsage } from './stats.sql.ts'

/** Limit: rows between two checkpoints, which notice a cancelled read. */
const CHECKPOINT_ROWS = 4096

type CallRow = [startedAtUs: number, endedAtUs: number | null, isError: number]
/** Followed by the columns of a row of usage. */
type UsageRow = [startedAtUs: number, ...usage: unknown[]]
/** A call, with one row of its usage, all null when it has none; one for each model. */
type GroupRow = [
  callKey: number,
  startedAtUs: number,
  endedAtUs: number | null,
  isError: number,
  value: string | null,
  model: string | null,
  ...usage: unknown[],
]
const USAGE_AT = 5

/** Calls of a project that started in [startUs, endUs). */
interface RowWindow {
  readonly project_id: string
  readonly startUs: number
  readonly endUs: number
}

/** What a statement of a part of a window is run with. */
type PartParameters = Readonly<Record<string, unknown>>

/**
 * Returns a generator that adds the rows of a window, called with windows in time order, and returns whether it paused.
 * It does not pause when an index finds few calls.
 *
 * @param addPart - adds the rows of a part of the window; calls `count` for each
 */
export function createRowScan(
  db: Connection,
  { conditions, parameters }: FilterClause,
  checkpoint: Checkpoint,
  addPart: (bound: PartParameters, count: () => void) => void,
) {
  let rows = 0

  function count(): void {
    rows += 1
    if (rows % CHECKPOINT_ROWS === 0) checkpoint()
  }

  return function* scanRows({ project_id, startUs, endUs }: RowWindow): Generator<void, boolean> {
    const startedUs = { from: startUs, to: endUs - 1 }
    let hasPaused = false
    const window = { project_id, startedUs, direction: 'asc' } as const
    for (const { from, to } of cutTime(db, conditions, window, { after_us: Number.NaN })) {
      addPart({ project_id, start_us: from, end_us: to + 1, ...parameters }, count)
      if (!checkpoint()) continue
      yield
      hasPaused = true
    }
    return hasPaused
  }
}

/** Returns a function that adds the rows of a part to the tables of buckets. */
export function createBucketRows(
  db: Connection,
  { conditions }: FilterClause,
  tables: StatsTables,
): Parameters<typeof createRowScan>[3] {
  const selectCalls = db.prepare(selectStatsCalls(conditions)).raw()
  const selectUsage = db.prepare(selectStatsUsage(conditions)).raw()
  const skipped = excludedCounts(tables.counting)

  return (bound, count) => {
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
}

/** Returns a function that adds the rows of a part to the tables of groups. */
export function createGroupRows(
  db: Connection,
  { conditions }: FilterClause,
  { groupBy, counting, usageColumns }: GroupsQuery,
  tables: GroupTables,
): Parameters<typeof createRowScan>[3] {
  const { field } = groupBy
  const hasUsage = usageColumns.length > 0 || field === 'model' || field === 'provider'
  const select = db.prepare(selectGroupCalls(conditions, field, hasUsage)).raw()
  const skipped = excludedCounts(counting)

  function addCall(
    [, startedAtUs, endedAtUs, isError, value]: GroupRow,
    usage: readonly ModelUsage[],
  ) {
    const call = { value, endedAtUs, isError: isError === 1 }
    for (const name of groupsOf(field, call, usage)) {
      const group = tables.indexOf(name)
      if (group < 0) continue
      tables.addCall(group, startedAtUs, endedAtUs, call.isError)
      if (usageColumns.length === 0) continue
      const isOfUsage = field === 'model' || field === 'provider'
      for (const row of usage) {
        if (!isOfUsage || row[field] === name) tables.addUsage(group, row, startedAtUs)
      }
    }
  }

  return (bound, count) => {
    let call: GroupRow | null = null
    let usage: ModelUsage[] = []
    for (const row of select.iterate(bound) as IterableIterator<GroupRow>) {
      count()
      if (row[0] !== call?.[0]) {
        if (call) addCall(call, usage)
        call = row
        usage = []
      }
      if (!hasUsage || row[USAGE_AT] === null) continue
      usage.push(...readCounted(row, USAGE_AT).filter(({ counts }) => counts !== skipped))
    }
    if (call) addCall(call, usage)
  }
}
