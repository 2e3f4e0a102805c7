/**
 * Maintains, beside the usage that calls report, what of it counts: the sums of their children's reports, and the calls
 * that report the same request. Reads nothing for calls without usage.
 */
import { type CallEnd, type CallStart, settleUsage } from '../../../domain/calls/new-call.ts'
import { USAGE_COUNTERS } from '../../../domain/usage/own-usage.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import { type NameKeys, type PackedId, packId } from '../calls/columns/id-columns.ts'
import type { Connection } from '../db/connection.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import { createChildSums, type PackedChild } from './child-sums.ts'
import * as SQL from './nested-usage.sql.ts'
import { createUsageRequests, type UsageRequests } from './usage-requests.ts'
import { readReport } from './usage-rows.ts'

type Key = number | bigint

/** The bit of `call_usage.repeats` for reports that count at another call of the same request. */
const REPEATS_REQUEST = 1

interface LeavingCall extends PackedChild {
  readonly call_key: number
  readonly packed_id: PackedId
  readonly identity: string | null
  readonly is_shared: 0 | 1
}

/** The stored columns of a call whose start arrives. */
interface StoredRow {
  readonly call_key: number
  readonly summary_json: string | null
}

type BeginningCall = Pick<
  CallStart,
  'project_id' | 'id' | 'parent_id' | 'started_at_us' | 'linked_id'
>
type ReportingEnd = Pick<CallEnd, 'project_id' | 'usage' | 'response_id'>

export type NestedUsage = ReturnType<typeof createNestedUsage>

/** @param hours - like `keys`, over the same connection */
export function createNestedUsage(
  db: Connection,
  hours: Pick<HourMarks, 'recount'>,
  keys: Pick<NameKeys, 'projectKey'>,
) {
  const remove = db.prepare(SQL.DELETE_CALL_USAGE)
  const { findReports, report } = createReports(db)
  const { sums, requests } = createCounting(db, hours, findReports)
  const hasChildren = db.prepare(SQL.HAS_CHILDREN).pluck()
  const selectLeaving = db.prepare(SQL.SELECT_LEAVING_CALLS)

  /** @param isLate - whether the end of the call was stored before its start */
  function enter(
    call_key: Key,
    start: BeginningCall,
    { usage, response_id }: Pick<ReportingEnd, 'usage' | 'response_id'>,
    isLate: boolean,
  ): void {
    if (usage.length === 0) return
    const { project_id, id, parent_id, started_at_us } = start
    const project_key = keys.projectKey(project_id)
    const packed_id = packId(id)
    const call = { call_key, project_key, id, packed_id, started_at_us }
    const marks = { response_id: response_id ?? null, linked_id: start.linked_id ?? null }
    const identity = requests.enter({ ...call, ...marks }, usage, isLate)
    if (hasChildren.get({ project_key, packed_id }) === 1) sums.changeOwn(call_key)
    if (parent_id === null) return
    const child = { call_key, project_key, packed_id, packed_parent_id: packId(parent_id) }
    sums.addToParent(child, identity, usage, 1)
  }

  return {
    /** Stores what a call reports, and counts it from now on. */
    report(call_key: Key, start: BeginningCall, end: ReportingEnd): void {
      report(call_key, end.usage)
      enter(call_key, start, end, false)
    },

    /** Stores what a call reports whose start has not come, with what identifies its request. */
    reportEarly(call_key: Key, { project_id, usage, response_id }: ReportingEnd): void {
      if (usage.length === 0) return
      report(call_key, usage)
      requests.keep(call_key, keys.projectKey(project_id), response_id)
    },

    /**
     * Counts the reports of a call whose end came before this start, read as the reporter counts that it names.
     *
     * @returns them
     */
    completeStart({ call_key, summary_json }: StoredRow, start: CallStart): readonly CallUsage[] {
      const reports = findReports(call_key)
      const { usage } =
        summary_json === null
          ? { usage: reports }
          : settleUsage({ usage: reports, summary_json }, start.attributes_json)
      if (usage !== reports) {
        remove.run({ call_key })
        report(call_key, usage)
      }
      enter(call_key, start, { usage }, true)
      return usage
    },

    /** Counts the reports of deleted calls no more. */
    leave(call_keys: readonly number[]): void {
      const leaving = selectLeaving.all({ call_keys: JSON.stringify(call_keys) }) as LeavingCall[]
      for (const call of leaving) {
        const identity = call.is_shared === 1 ? null : call.identity
        sums.addToParent(call, identity, findReports(call.call_key), -1)
        requests.leave(call)
      }
    },

    /** Decides what counts after the changes of a write. */
    settle(): void {
      let isChanged = true
      while (isChanged) {
        const haveSumsChanged = sums.settle()
        isChanged = requests.settle() || haveSumsChanged
      }
    },
  }
}

function createReports(db: Connection) {
  const insert = db.prepare(SQL.INSERT_CALL_USAGE)
  const find = db.prepare(SQL.FIND_CALL_USAGE).raw()

  return {
    findReports(call_key: Key): CallUsage[] {
      return (find.all({ call_key }) as unknown[][]).map((row) => readReport(row))
    },

    /** Stores what a call reports. */
    report(call_key: Key, usage: readonly CallUsage[]): void {
      for (const report of usage) {
        const { model, provider, upstream_model, service_tier } = report
        insert.run([
          ...[call_key, model, provider, upstream_model, service_tier],
          ...[report.reports_cost ? 1 : 0, report.tells_requests ? 1 : 0],
          ...USAGE_COUNTERS.map((counter) => report[counter]),
        ])
      }
    },
  }
}

/** Creates the sums of children and the requests, which depend on each other. */
function createCounting(
  db: Connection,
  hours: Pick<HourMarks, 'recount'>,
  findReports: (call_key: Key) => CallUsage[],
) {
  const setRepeats = db.prepare(SQL.SET_REPEATS)
  const findCounted = db.prepare(SQL.FIND_COUNTED_CALL)

  function setRepeat(call_key: Key, isRepeat: boolean): void {
    setRepeats.run({ call_key, bit: REPEATS_REQUEST, repeats: isRepeat ? 1 : 0 })
    const counted = findCounted.get({ call_key }) as
      | { project_id: string; started_at_us: number }
      | undefined
    if (counted) hours.recount(counted.project_id, call_key, counted.started_at_us)
  }

  const sums = createChildSums(db, hours, (project_key, identity) =>
    requests.touch(project_key, identity),
  )
  const requests: UsageRequests = createUsageRequests(db, {
    findReports,
    setRepeat,
    onMoved: (call) => sums.change(call),
  })
  return { sums, requests }
}
