/** Reads all calls of a trace with what they report. */
import { isBefore } from '../../../domain/usage/request-identity.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import type { createFoundCalls } from '../../base/usage/usage-trees.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint } from '../read/read-job.ts'
import { SELECT_TRACE_CALLS } from './usage.sql.ts'
import { readReport } from './usage-rows.ts'

/** Calls that one statement reads; some 20 ms. */
const PAGE_CALLS = 2048

/** A row of SELECT_TRACE_CALLS: a call, and behind it one model of its usage, or nulls. */
type Row = readonly [
  call_key: number,
  id: string,
  parent_id: string | null,
  started_at_us: number,
  ended_at_us: number | null,
  exception: string | null,
  request: string | null,
  ...report: unknown[],
]
const REPORT_AT = 7

/** Creates a read that adds the calls of a trace to others; it pauses. */
export function createTraceRead(db: Connection, project_id: string, checkpoint: Checkpoint) {
  const select = db.prepare(SELECT_TRACE_CALLS).raw()

  /** @param limit - of more calls than these one is added. @throws ApiError when `found` takes no more */
  return function* readTrace(
    trace_id: string,
    found: Pick<ReturnType<typeof createFoundCalls>, 'add'>,
    limit: number,
  ): Generator<void, void> {
    const reports = new Map<number, CallUsage[]>()
    const calls: Row[] = []
    let after_key = 0
    let isMore = true
    while (isMore) {
      const pageCalls = Math.min(PAGE_CALLS, limit + 1 - calls.length)
      const page = { project_id, trace_id, after_key, limit: pageCalls }
      const before = calls.length
      for (const row of select.all(page) as Row[]) {
        const [call_key] = row
        const known = reports.get(call_key) ?? []
        if (row[REPORT_AT] !== null) known.push(readReport(row, REPORT_AT))
        if (reports.has(call_key)) continue
        reports.set(call_key, known)
        calls.push(row)
        after_key = Math.max(after_key, call_key)
      }
      if (checkpoint()) yield
      isMore = calls.length - before === pageCalls && calls.length <= limit
    }
    for (const row of calls.map(toCall).sort((a, b) => (isBefore(a, b) ? -1 : 1))) {
      const { call_key, request } = row
      found.add({ ...row, trace_id }, () => ({ usage: reports.get(call_key) ?? [], request }))
    }
  }
}

function toCall(row: Row) {
  const [call_key, id, parent_id, started_at_us, ended_at_us, exception, request] = row
  return { call_key, id, parent_id, started_at_us, ended_at_us, exception, request }
}
