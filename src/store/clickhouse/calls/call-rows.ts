/** Calls as rows of the tables, and back. */
import { createHash } from 'node:crypto'
import { END_FIELDS, START_FIELDS } from '../../../domain/calls/call-state.ts'
import { type CallTexts, latencyMs } from '../../../domain/calls/call-view.ts'
import type { CallEnd, CallStart } from '../../../domain/calls/new-call.ts'
import {
  ownUsage,
  repeatsChildren,
  sumReports,
  USAGE_COUNTERS,
} from '../../../domain/usage/own-usage.ts'
import { requestOf, responseKey, signatureOf } from '../../../domain/usage/request-identity.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import type { Row } from '../db/client.ts'
import { markOf, type NestedReports } from './write/nested-reports.ts'

/** The fields of the start that all rows of a call repeat. */
export interface KnownStart {
  readonly started_at_us: number
  readonly trace_id: string
  readonly parent_id: string | null
  readonly thread_id: string | null
  readonly turn_id: string | null
  readonly op_name: string
  readonly display_name: string | null
  readonly svc_user_id: string
  readonly svc_username: string
  readonly svc_run_id: string | null
  readonly svc_run_step: number | null
  readonly end_user_id: string | null
}

/** A row of `calls` as read. */
export interface FoundRow
  extends KnownStart,
    Omit<CallTexts, keyof KnownStart | 'storage_size_bytes'> {
  readonly has_start: 0 | 1
  readonly has_end: 0 | 1
  readonly size_bytes: number
}

/** An end with the call that its start names as the same request. */
export type LinkedEnd = CallEnd & Pick<CallStart, 'linked_id'>

/** Returns the hash of START_FIELDS. */
export function hashStart(start: CallStart): string {
  return hash(START_FIELDS.map((field) => start[field]))
}

/** Returns the hash of END_FIELDS. */
export function hashEnd(end: CallEnd): string {
  return hash(END_FIELDS.map((field) => end[field]))
}

function hash(values: readonly (string | number | null)[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64')
}

export function toKnownStart(start: KnownStart): KnownStart {
  const { started_at_us, trace_id, parent_id, thread_id, turn_id, op_name, display_name } = start
  const { svc_user_id, svc_username, svc_run_id, svc_run_step, end_user_id } = start
  return {
    started_at_us,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    display_name,
    svc_user_id,
    svc_username,
    svc_run_id,
    svc_run_step,
    end_user_id,
  }
}

/**
 * Returns the row of a start, or of a whole call.
 *
 * @param nested - the known reports of its children
 */
export function toStartRow(
  start: CallStart,
  end: LinkedEnd | null,
  nested: NestedReports | null,
): Row {
  const { project_id, id, attributes_json, inputs_json, otel_dump_json } = start
  const { start_size_bytes } = start
  return {
    project_id,
    id,
    ...toKnownStart(start),
    has_start: 1,
    has_end: end ? 1 : 0,
    attributes_json,
    inputs_json,
    otel_dump_json,
    start_hash: hashStart(start),
    input_refs: start.input_refs.map(({ ref }) => ref),
    ...(end ? endColumns(start, end, nested) : {}),
    size_bytes: start_size_bytes + (end?.end_size_bytes ?? 0),
  }
}

/** Returns the row of an end whose start is stored. */
export function toEndRow(start: KnownStart, end: LinkedEnd, nested: NestedReports | null): Row {
  const { project_id, id, end_size_bytes: size_bytes } = end
  return {
    project_id,
    id,
    ...toKnownStart(start),
    has_start: 0,
    has_end: 1,
    ...endColumns(start, end, nested),
    size_bytes,
  }
}

function endColumns(start: KnownStart, end: LinkedEnd, nested: NestedReports | null): Row {
  const { started_at_us, parent_id } = start
  const { ended_at_us, exception, svc_run_step_end, output_json, summary_json, usage } = end
  return {
    ended_at_us,
    exception,
    svc_run_step_end,
    output_json,
    summary_json,
    latency_ms: latencyMs(started_at_us, ended_at_us),
    is_error: exception === null ? 0 : 1,
    output_refs: end.output_refs.map(({ ref }) => ref),
    'usage.tells_requests': usage.map(({ tells_requests }) => (tells_requests ? 1 : 0)),
    ...nestedColumns('usage', USAGE_COUNTERS, usage),
    ...ownColumns(usage, parent_id, nested),
    report_mark: String(markOf({ ...end, parent_id })),
    request_key: requestKeyOf(end),
    request_signature: signatureOf(usage) ?? '',
    linked_id: end.linked_id ?? '',
    end_hash: hashEnd(end),
  }
}

/** The identity of a call's request by its response; empty: none. */
export function requestKeyOf({ usage, response_id }: CallEnd): string {
  const signature = signatureOf(usage)
  if (signature === null || !response_id) return ''
  return requestOf(responseKey(response_id), signature) ?? ''
}

/** Returns the own usage of a call if it differs from its report, and the mark of the reports that it is based on. */
function ownColumns(
  usage: readonly CallUsage[],
  parent_id: string | null,
  nested: NestedReports | null,
): Row {
  // Of two calls that name each other as parents only a read knows which is the earlier one.
  if (nested === null || (parent_id !== null && nested.ids.has(parent_id))) return {}
  const isSum = repeatsChildren(usage, sumReports([...nested.sums.values()]))
  const own = isSum
    ? []
    : usage.map((report) => ownUsage(report, nested.sums.get(report.model) ?? null))
  const hasOwn = isSum || own.some((left, at) => left !== usage[at])
  const rows = hasOwn ? own.filter((left) => left !== null) : []
  const counters = USAGE_COUNTERS.filter((counter) => counter !== 'requests')
  return {
    nested_mark: String(nested.mark),
    has_own: hasOwn ? 1 : 0,
    ...nestedColumns('own', counters, rows),
  }
}

function nestedColumns(
  name: string,
  counters: readonly (typeof USAGE_COUNTERS)[number][],
  rows: readonly CallUsage[],
): Row {
  return {
    [`${name}.model`]: rows.map(({ model }) => model),
    [`${name}.provider`]: rows.map(({ provider }) => provider ?? ''),
    [`${name}.upstream_model`]: rows.map(({ upstream_model }) => upstream_model ?? ''),
    [`${name}.service_tier`]: rows.map(({ service_tier }) => service_tier ?? ''),
    [`${name}.reports_cost`]: rows.map(({ reports_cost }) => (reports_cost ? 1 : 0)),
    ...Object.fromEntries(
      counters.map((counter) => [`${name}.${counter}`, rows.map((row) => row[counter])]),
    ),
  }
}

/**
 * Returns the calls of rows by id, in the order in which their starts were stored. Of duplicate parts the first one
 * is used: two processes may have stored the same.
 */
export function mergeRows(
  rows: readonly FoundRow[],
  names: ReadonlyMap<string, string | null>,
): Map<string, CallTexts> {
  const ends = new Map<string, FoundRow>()
  for (const row of rows) if (row.has_end === 1 && !ends.has(row.id)) ends.set(row.id, row)
  const calls = new Map<string, CallTexts>()
  for (const row of rows) {
    if (row.has_start === 1 && !calls.has(row.id)) {
      calls.set(row.id, toCall(row, ends.get(row.id) ?? null, names))
    }
  }
  return calls
}

function toCall(
  row: FoundRow,
  end: FoundRow | null,
  names: ReadonlyMap<string, string | null>,
): CallTexts {
  const { project_id, id, attributes_json, inputs_json, otel_dump_json } = row
  const given = names.get(id)
  return {
    project_id,
    id,
    ...toKnownStart(row),
    attributes_json,
    inputs_json,
    otel_dump_json,
    display_name: given === undefined ? row.display_name : given,
    ended_at_us: end?.ended_at_us ?? null,
    exception: end?.exception ?? null,
    svc_run_step_end: end?.svc_run_step_end ?? null,
    output_json: end?.output_json ?? null,
    summary_json: end?.summary_json ?? null,
    storage_size_bytes: row.size_bytes + (end && end !== row ? end.size_bytes : 0),
  }
}
