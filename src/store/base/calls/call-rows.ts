/** Converts rows of the call tables to calls, and compares them with parts that a client sends again. */
import type { CallTexts, StoredCall } from '../../../domain/calls/call-view.ts'
import type { CallEnd, CallStart } from '../../../domain/calls/new-call.ts'
import { parseLossless } from '../../../domain/json/json-text.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'

/** A row of FIND_CALL: a call whose start may not have arrived. */
export interface CallRow extends Omit<CallTexts, 'trace_id' | 'op_name' | 'started_at_us'> {
  readonly call_key: number
  readonly trace_id: string | null
  readonly op_name: string | null
  readonly started_at_us: number | null
  readonly deleted_at_us: number | null
}

/** Returns the call of a row; null when it has no start yet or was deleted. */
export function toStoredCall(row: Omit<CallRow, 'call_key'>): StoredCall | null {
  const { started_at_us, trace_id, op_name } = row
  if (started_at_us === null || trace_id === null || op_name === null) return null
  if (row.deleted_at_us !== null) return null
  return {
    project_id: row.project_id,
    id: row.id,
    trace_id,
    parent_id: row.parent_id,
    thread_id: row.thread_id,
    turn_id: row.turn_id,
    op_name,
    display_name: row.display_name,
    started_at_us,
    ended_at_us: row.ended_at_us,
    exception: row.exception,
    attributes: parseObject(row.attributes_json),
    inputs: parseObject(row.inputs_json),
    otel_dump: row.otel_dump_json === null ? null : parseObject(row.otel_dump_json),
    output: row.output_json === null ? null : parseLossless(row.output_json),
    summary: parseObject(row.summary_json),
    svc_user_id: row.svc_user_id,
    svc_username: row.svc_username,
    svc_run_id: row.svc_run_id,
    svc_run_step: row.svc_run_step,
    svc_run_step_end: row.svc_run_step_end,
    storage_size_bytes: row.storage_size_bytes,
  }
}

/** Whether a start that was sent again equals the stored one. The name may have changed since. */
export function isSameStart(row: CallRow, start: CallStart): boolean {
  return (
    (start.sent_trace_id === null || row.trace_id === start.sent_trace_id) &&
    row.parent_id === start.parent_id &&
    row.thread_id === start.thread_id &&
    row.turn_id === start.turn_id &&
    row.op_name === start.op_name &&
    row.started_at_us === start.started_at_us &&
    row.svc_run_id === start.svc_run_id &&
    row.svc_run_step === start.svc_run_step &&
    row.attributes_json === start.attributes_json &&
    row.inputs_json === start.inputs_json &&
    row.otel_dump_json === start.otel_dump_json
  )
}

/** Whether an end that was sent again equals the stored one. */
export function isSameEnd(row: CallRow, end: CallEnd): boolean {
  return (
    row.ended_at_us === end.ended_at_us &&
    row.exception === end.exception &&
    row.svc_run_step_end === end.svc_run_step_end &&
    row.output_json === end.output_json &&
    row.summary_json === end.summary_json
  )
}

function parseObject(json: string | null): JsonObject {
  return json === null ? {} : (parseLossless(json) as JsonObject)
}
