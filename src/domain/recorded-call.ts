/**
 * A call that the server itself made and records whole, start and end at once. Pure. Its large bodies come
 * as JSON texts and stay texts: to parse and print them again would cost more than all else of a record.
 */
import type { JsonObject } from '../schemas/primitives.ts'
import { parseLossless, renderJson } from './json-text.ts'
import type { CallParts } from './new-call.ts'
import { findRefs } from './refs.ts'
import { readUsage } from './usage.ts'

export interface RecordedCall {
  readonly project_id: string
  readonly id: string
  readonly trace_id: string
  readonly op_name: string
  /** Microseconds since the epoch, as ended_at_us. */
  readonly started_at_us: number
  readonly ended_at_us: number
  readonly svc_user_id: string
  readonly svc_username: string
  readonly attributes: JsonObject
  /** JSON text of an object, on one line, as of toOneLine. */
  readonly inputs_json: string
  /** JSON text, on one line. */
  readonly output_json: string
  readonly exception: string | null
  readonly summary: JsonObject
}

/**
 * Both parts of a recorded call.
 *
 * @param refScheme - scheme of the refs that are looked for in inputs and output
 * @throws ApiError validation_failed when summary.usage is too large
 */
export function resolveRecordedCall(call: RecordedCall, refScheme: string): CallParts {
  const { project_id, id, inputs_json, output_json } = call
  const attributes_json = renderJson(call.attributes)
  const summary_json = renderJson(call.summary)
  return {
    start: {
      project_id,
      id,
      sent_trace_id: null,
      trace_id: call.trace_id,
      parent_id: null,
      thread_id: null,
      turn_id: null,
      op_name: call.op_name,
      display_name: null,
      started_at_us: call.started_at_us,
      svc_user_id: call.svc_user_id,
      svc_username: call.svc_username,
      svc_run_id: null,
      svc_run_step: null,
      attributes_json,
      inputs_json,
      otel_dump_json: null,
      input_refs: findRefsInText(inputs_json, refScheme),
      start_size_bytes: Buffer.byteLength(attributes_json) + Buffer.byteLength(inputs_json),
    },
    end: {
      project_id,
      id,
      ended_at_us: call.ended_at_us,
      exception: call.exception,
      svc_run_step_end: null,
      output_json,
      summary_json,
      output_refs: findRefsInText(output_json, refScheme),
      usage: readUsage(call.summary),
      end_size_bytes: Buffer.byteLength(output_json) + Buffer.byteLength(summary_json),
    },
  }
}

/**
 * The same JSON without line breaks, as stored texts must be: as it came where it has none, else printed anew
 * with every digit. A byte order mark before it is dropped.
 *
 * @param json - a text that has been parsed before
 */
export function toOneLine(json: string): string {
  const text = json.trim()
  const isOneLine = !text.includes('\n') && !text.includes('\r')
  return isOneLine ? text : renderJson(parseLossless(text))
}

/** Escapes that can hide the start of a ref. Texts and no pattern, which would look at every character. */
const HIDING_ESCAPES = ['\\/', '\\u'] as const

/** Walks the value only when its text can hold a ref. */
function findRefsInText(json: string, refScheme: string): string[] {
  const signs = [`${refScheme}:///`, ...HIDING_ESCAPES]
  return signs.some((sign) => json.includes(sign)) ? findRefs(JSON.parse(json), refScheme) : []
}
