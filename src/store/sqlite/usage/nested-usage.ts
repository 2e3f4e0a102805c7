/**
 * Maintains the sums of what a call's children report beside the call's own usage, in the write that changes either.
 * Reads nothing for calls without usage.
 */
import { type CallEnd, type CallStart, settleUsage } from '../../../domain/calls/new-call.ts'
import {
  addedUsage,
  type CountedUsage,
  countUsage,
  ownUsage,
  USAGE_COUNTERS,
  type UsageCounters,
} from '../../../domain/usage/own-usage.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import { type NameKeys, type PackedId, packId } from '../calls/columns/id-columns.ts'
import type { Connection } from '../db/connection.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import * as SQL from './nested-usage.sql.ts'
import { readCounted, readNested, readReport } from './usage-rows.ts'

type Key = number | bigint

/** A call with a parent, in the form of its columns. */
interface PackedChild {
  readonly call_key: Key
  readonly project_key: Key
  readonly packed_parent_id: PackedId
}

/** The stored columns of a call whose start arrives. */
interface SettledRow {
  readonly call_key: number
  readonly id: string
  readonly summary_json: string | null
}

type ReportingEnd = Pick<CallEnd, 'project_id' | 'id' | 'usage'>

export type NestedUsage = ReturnType<typeof createNestedUsage>

/** @param hours - like `keys`, over the same connection */
export function createNestedUsage(
  db: Connection,
  hours: Pick<HourMarks, 'recount'>,
  keys: Pick<NameKeys, 'projectKey'>,
) {
  const insert = db.prepare(SQL.INSERT_CALL_USAGE)
  const remove = db.prepare(SQL.DELETE_CALL_USAGE)
  const find = db.prepare(SQL.FIND_CALL_USAGE).raw()
  const hasChildren = db.prepare(SQL.HAS_CHILDREN).pluck()
  const sumChildren = db.prepare(SQL.SUM_CHILDREN_USAGE)
  const addNested = db.prepare(SQL.ADD_NESTED_USAGE).raw()
  const findCounted = db.prepare(SQL.FIND_COUNTED_CALL)
  const selectOrphaning = db.prepare(SQL.SELECT_ORPHANING_CALLS)

  /** Adds a child's report to its parent's sums, and recounts the parent if its own usage has changed. */
  function add(child: PackedChild, model: string, counters: UsageCounters): void {
    const row = addNested.get({ ...child, model, ...counters }) as unknown[] | undefined
    if (!row) return
    const [call_key, ...columns] = row as [number, ...unknown[]]
    const after = readNested(columns) as UsageCounters
    const before = { ...after }
    for (const counter of USAGE_COUNTERS) before[counter] -= counters[counter]
    const report = readReport(columns)
    if (ownUsage(report, before) === report && ownUsage(report, after) === report) return
    const counted = findCounted.get({ call_key }) as
      | { project_id: string; started_at_us: number }
      | undefined
    if (counted) hours.recount(counted.project_id, call_key, counted.started_at_us)
  }

  function findReports(call_key: Key): CallUsage[] {
    return (find.all({ call_key }) as unknown[][]).map((row) => readReport(row))
  }

  /** Stores what a call reports. @returns how it counts */
  function report(call_key: Key, { project_id, id, usage }: ReportingEnd): CountedUsage[] {
    if (usage.length === 0) return []
    const call = { call_key, project_key: keys.projectKey(project_id), packed_id: packId(id) }
    const { call_key: _key, ...parent } = call
    const sums = (hasChildren.get(parent) ? sumChildren.all(call) : []) as (UsageCounters & {
      model: string
    })[]
    const byModel = new Map(sums.map(({ model, ...counters }) => [model, counters]))
    return usage.flatMap((report) => {
      const nested = byModel.get(report.model) ?? null
      const { model, provider, upstream_model, service_tier } = report
      insert.run([
        ...[call_key, model, provider, upstream_model, service_tier],
        ...[report.reports_cost ? 1 : 0, report.tells_requests ? 1 : 0],
        ...USAGE_COUNTERS.map((counter) => report[counter]),
        ...USAGE_COUNTERS.map((counter) => nested?.[counter] ?? null),
      ])
      return countUsage(report, nested)
    })
  }

  return {
    report,

    /** Returns the reports of a call whose end came before this start, read as the reporter counts that it names. */
    settleReports(
      { call_key, id, summary_json }: SettledRow,
      start: CallStart,
    ): readonly CallUsage[] {
      const usage = findReports(call_key)
      if (summary_json === null) return usage
      const settled = settleUsage({ usage, summary_json }, start.attributes_json).usage
      if (settled !== usage) {
        remove.run({ call_key })
        report(call_key, { project_id: start.project_id, id, usage: settled })
      }
      return settled
    },

    /** Returns how the usage of a call counts. */
    count: (call_key: Key): CountedUsage[] =>
      (find.all({ call_key }) as unknown[][]).flatMap((row) => readCounted(row)),

    /** Adds the reports of a call that counts from now on to its parent. */
    addToParent(
      call_key: Key,
      { project_id, parent_id }: Pick<CallStart, 'project_id' | 'parent_id'>,
      usage: readonly CallUsage[],
    ): void {
      if (parent_id === null || usage.length === 0) return
      const project_key = keys.projectKey(project_id)
      const child = { call_key, project_key, packed_parent_id: packId(parent_id) }
      for (const report of usage) add(child, report.model, addedUsage(report))
    },

    /** Subtracts the reports of deleted calls from parents that stay. */
    takeFromParents(call_keys: readonly number[]): void {
      const orphaning = selectOrphaning.all({ call_keys: JSON.stringify(call_keys) })
      for (const child of orphaning as PackedChild[]) {
        for (const report of findReports(child.call_key)) {
          const counters = addedUsage(report)
          for (const counter of USAGE_COUNTERS) counters[counter] *= -1
          add(child, report.model, counters)
        }
      }
    },
  }
}
