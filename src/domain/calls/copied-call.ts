/** Converts a stored call back to the parts that a client would have sent, to copy it to another store. Pure. */
import { findRefs } from '../objects/refs.ts'
import { readStoredMarks } from '../usage/request-identity.ts'
import { readUsage } from '../usage/usage.ts'
import type { CallTexts } from './call-view.ts'
import type { CallParts } from './new-call.ts'

/**
 * @param call - with all of its bodies
 * @param refScheme - scheme of the refs to find in inputs and output
 */
export function toCopiedParts(call: CallTexts, refScheme: string): CallParts {
  const { project_id, id, trace_id, ended_at_us, otel_dump_json } = call
  const { parent_id, thread_id, turn_id, op_name, display_name, started_at_us } = call
  const { svc_user_id, svc_username, svc_run_id, svc_run_step, svc_run_step_end, exception } = call
  const { end_user_id } = call
  const attributes_json = call.attributes_json ?? '{}'
  const inputs_json = call.inputs_json ?? '{}'
  const output_json = call.output_json ?? 'null'
  const summary_json = call.summary_json ?? '{}'
  const { linked_id, response_id } = readStoredMarks(call)
  const refsOf = (json: string) => findRefs(JSON.parse(json), refScheme)
  return {
    start: {
      project_id,
      id,
      sent_trace_id: trace_id,
      trace_id,
      parent_id,
      thread_id,
      turn_id,
      op_name,
      display_name,
      started_at_us,
      svc_run_id,
      svc_run_step,
      svc_user_id: svc_user_id ?? '',
      svc_username: svc_username ?? '',
      end_user_id,
      attributes_json,
      inputs_json,
      otel_dump_json,
      input_refs: refsOf(inputs_json),
      linked_id,
      start_size_bytes: bytesOf(attributes_json, inputs_json, otel_dump_json ?? ''),
    },
    end:
      ended_at_us === null
        ? null
        : {
            project_id,
            id,
            ended_at_us,
            exception,
            svc_run_step_end,
            output_json,
            summary_json,
            output_refs: refsOf(output_json),
            usage: readUsage(JSON.parse(summary_json)),
            response_id,
            end_size_bytes: bytesOf(output_json, summary_json),
          },
  }
}

function bytesOf(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
