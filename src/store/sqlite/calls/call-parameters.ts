/** Converts calls to the parameters of the statements that run for each, in the order of their columns. */
import type { CallEnd, CallStart } from '../../../domain/calls/new-call.ts'
import { packBodies } from './body-compression.ts'
import type { NameKeys } from './columns/id-columns.ts'
import { packId, packOptional } from './columns/id-columns.ts'

type Key = number | bigint
type Parameter = string | number | bigint | Buffer | null

/** Returns the parameters of INSERT_CALL_START. */
export function toStartParameters(
  start: CallStart,
  is_orphan: boolean,
  keys: NameKeys,
): Parameter[] {
  const parameters = listStart(start, is_orphan, keys)
  parameters.push(start.start_size_bytes)
  return parameters
}

/** Returns the parameters of INSERT_WHOLE_CALL. */
export function toWholeParameters(
  start: CallStart,
  end: CallEnd,
  is_orphan: boolean,
  keys: NameKeys,
): Parameter[] {
  const parameters = listStart(start, is_orphan, keys)
  const sizeBytes = start.start_size_bytes + end.end_size_bytes
  parameters.push(end.ended_at_us, end.exception, end.svc_run_step_end, sizeBytes)
  return parameters
}

/** Returns the parameters that both begin with. */
function listStart(start: CallStart, is_orphan: boolean, keys: NameKeys): Parameter[] {
  return [
    keys.projectKey(start.project_id),
    packId(start.id),
    packId(start.trace_id),
    packOptional(start.parent_id),
    packOptional(start.thread_id),
    packOptional(start.turn_id),
    keys.opKey(start.op_name),
    start.display_name,
    start.started_at_us,
    start.svc_user_id,
    start.svc_username,
    start.svc_run_id,
    start.svc_run_step,
    start.end_user_id,
    is_orphan ? 1 : 0,
  ]
}

/** Returns the parameters of UPDATE_CALL_START. */
export function toLateStartParameters(
  call_key: Key,
  start: CallStart,
  is_orphan: boolean,
  keys: NameKeys,
) {
  return {
    ...start,
    call_key,
    is_orphan: is_orphan ? 1 : 0,
    packed_trace_id: packId(start.trace_id),
    packed_parent_id: packOptional(start.parent_id),
    packed_thread_id: packOptional(start.thread_id),
    packed_turn_id: packOptional(start.turn_id),
    op_key: keys.opKey(start.op_name),
  }
}

/** Returns the parameters that identify a call, for statements that write nothing of its start. */
export function toIdParameters<Call extends { readonly project_id: string; readonly id: string }>(
  call: Call,
  keys: NameKeys,
) {
  return { ...call, project_key: keys.projectKey(call.project_id), packed_id: packId(call.id) }
}

/** Returns the bodies of a start, from packBodies. */
export function packStart({ attributes_json, inputs_json, otel_dump_json }: CallStart) {
  return packBodies(attributes_json, inputs_json, otel_dump_json)
}

/** Returns the bodies of an end, from packBodies. */
export function packEnd({ output_json, summary_json }: CallEnd) {
  return packBodies(output_json, summary_json)
}
