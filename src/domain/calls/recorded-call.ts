/**
 * A call that the server itself makes and records complete, with start and end. Pure. Its large bodies are JSON texts
 * that are not parsed and printed again, which would cost more than the rest of the recording.
 */
import type { JsonObject } from '../../schemas/primitives.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { type FoundRef, findRefs } from '../objects/refs.ts'
import { readTextResponseId } from '../usage/request-identity.ts'
import { readUsage } from '../usage/usage.ts'
import { readEndUserOfText } from './end-user.ts'
import type { CallParts } from './new-call.ts'

/** The recorded fields of a call, except its large bodies. */
export interface RecordedFacts {
  readonly project_id: string
  readonly id: string
  readonly trace_id: string
  /** Default: a root outside threads. */
  readonly parent_id?: string | null
  readonly thread_id?: string | null
  readonly op_name: string
  /** Microseconds since the epoch, as ended_at_us. */
  readonly started_at_us: number
  readonly ended_at_us: number
  readonly svc_user_id: string
  readonly svc_username: string
  readonly attributes: JsonObject
  readonly exception: string | null
  readonly summary: JsonObject
  /** Scheme of the refs to find in inputs and output. */
  readonly ref_scheme: string
}

export interface RecordedCall {
  readonly facts: RecordedFacts
  /** JSON text of an object; a byte order mark may come first. */
  readonly inputs_json: string
  /** JSON text, as inputs_json. */
  readonly output_json: string
}

/**
 * The parts of a recorded call as a client would have sent them. An output that nests too deep to be written again is
 * left out, which an attribute `output_cut` tells.
 *
 * @throws ApiError validation_failed when summary.usage is too large; SyntaxError for a body over several lines that is
 * no JSON
 */
export function resolveRecordedCall({ facts, ...bodies }: RecordedCall): CallParts {
  const { project_id, id, attributes, ref_scheme } = facts
  const isTooDeep = exceedsDepth(bodies.output_json, JSON_DEPTH_MAX)
  const inputs_json = toOneLine(bodies.inputs_json)
  const output_json = isTooDeep ? 'null' : toOneLine(bodies.output_json)
  const attributes_json = renderJson(isTooDeep ? { ...attributes, output_cut: true } : attributes)
  const summary_json = renderJson(facts.summary)
  return {
    start: {
      project_id,
      id,
      sent_trace_id: null,
      trace_id: facts.trace_id,
      parent_id: facts.parent_id ?? null,
      thread_id: facts.thread_id ?? null,
      turn_id: null,
      op_name: facts.op_name,
      display_name: null,
      started_at_us: facts.started_at_us,
      svc_user_id: facts.svc_user_id,
      svc_username: facts.svc_username,
      end_user_id: readEndUserOfText(attributes, inputs_json),
      svc_run_id: null,
      svc_run_step: null,
      attributes_json,
      inputs_json,
      otel_dump_json: null,
      input_refs: findRefsInText(inputs_json, ref_scheme),
      start_size_bytes: Buffer.byteLength(attributes_json) + Buffer.byteLength(inputs_json),
    },
    end: {
      project_id,
      id,
      ended_at_us: facts.ended_at_us,
      exception: facts.exception,
      svc_run_step_end: null,
      output_json,
      summary_json,
      output_refs: findRefsInText(output_json, ref_scheme),
      usage: readUsage(facts.summary),
      response_id: readTextResponseId(output_json),
      end_size_bytes: Buffer.byteLength(output_json) + Buffer.byteLength(summary_json),
    },
  }
}

/**
 * Returns the same JSON without line breaks, as stored texts must be: unchanged where it has none, otherwise
 * reprinted with every digit. A byte order mark before it is dropped.
 *
 * @param json - has been parsed before
 */
export function toOneLine(json: string): string {
  const text = json.trim()
  const isOneLine = !text.includes('\n') && !text.includes('\r')
  return isOneLine ? text : renderJson(parseLossless(text))
}

/** Finds the refs in a value, which is walked only when its text can contain one. */
function findRefsInText(json: string, refScheme: string): FoundRef[] {
  const canHold = json.includes(`${refScheme}:///`) || canHide(json)
  return canHold ? findRefs(JSON.parse(json), refScheme) : []
}

/** Whether an escape may hide the start of a ref. */
function canHide(json: string): boolean {
  return json.includes('\\') && (json.includes('\\/') || json.includes('\\u'))
}
