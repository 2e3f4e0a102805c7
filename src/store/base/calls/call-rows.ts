/** Converts rows of the call tables to calls. */
import type { CallTexts, StoredCall } from '../../../domain/calls/call-view.ts'
import { parseLossless } from '../../../domain/json/json-text.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'

/** A row of FIND_CALL: a call whose start may not have arrived. */
export interface CallRow extends Omit<CallTexts, 'trace_id' | 'op_name' | 'started_at_us'> {
  readonly call_key: number
  readonly trace_id: string | null
  readonly op_name: string | null
  readonly started_at_us: number | null
  readonly deleted_at_us: number | null
  readonly is_orphan: 0 | 1
}

/** Returns the call of a row; null when it has no start yet or was deleted. */
export function toStoredCall(row: Omit<CallRow, 'call_key' | 'is_orphan'>): StoredCall | null {
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
    end_user_id: row.end_user_id,
    svc_run_id: row.svc_run_id,
    svc_run_step: row.svc_run_step,
    svc_run_step_end: row.svc_run_step_end,
    storage_size_bytes: row.storage_size_bytes,
    usage_counted_in: row.usage_counted_in ?? null,
  }
}

function parseObject(json: string | null): JsonObject {
  return json === null ? {} : (parseLossless(json) as JsonObject)
}
