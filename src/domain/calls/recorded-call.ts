/**
 * A call that the server itself made and records whole, start and end at once. Pure. Its large bodies are JSON that is
 * neither parsed and printed again nor made into strings: either would cost more than all else of a record.
 */
import type { JsonObject } from '../../schemas/primitives.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../json/json-depth.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { findRefs } from '../objects/refs.ts'
import { type CallUsage, readUsage } from '../usage/usage.ts'
import type { CallParts } from './new-call.ts'

/** What is recorded of a call besides its large bodies. */
export interface RecordedFacts {
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
  readonly exception: string | null
  readonly summary: JsonObject
  /** Scheme of the refs that are looked for in inputs and output. */
  readonly ref_scheme: string
}

export interface RecordedCall {
  readonly facts: RecordedFacts
  /** JSON text of an object; a byte order mark may come first. */
  readonly inputs_json: string
  /** JSON text, as inputs_json. */
  readonly output_json: string
}

/** The same with its bodies in UTF-8. */
export interface RecordedBytes {
  readonly facts: RecordedFacts
  readonly inputs: Buffer
  readonly output: Buffer
}

export function toRecordedBytes({ facts, inputs_json, output_json }: RecordedCall): RecordedBytes {
  return { facts, inputs: Buffer.from(inputs_json), output: Buffer.from(output_json) }
}

/** What is stored of a recorded call. */
export interface RecordedRow {
  readonly facts: RecordedFacts
  readonly attributes_json: string
  readonly summary_json: string
  /** JSON without line breaks in UTF-8, as output. */
  readonly inputs: Buffer
  readonly output: Buffer
  readonly input_refs: readonly string[]
  readonly output_refs: readonly string[]
  readonly usage: readonly CallUsage[]
  /** Bytes of attributes_json and inputs, and of output and summary_json. */
  readonly start_size_bytes: number
  readonly end_size_bytes: number
}

/**
 * The row of a recorded call. An output that nests too deep to be written again is left out, which an attribute
 * `output_cut` tells.
 *
 * @throws ApiError validation_failed when summary.usage is too large; SyntaxError for a body over several lines that is
 * no JSON
 */
export function resolveRecordedCall(call: RecordedBytes): RecordedRow {
  const { facts } = call
  const { attributes, ref_scheme } = facts
  // Brackets and quotes are the same in both encodings, and this one takes no decoding.
  const isTooDeep = exceedsDepth(call.output.toString('latin1'), JSON_DEPTH_MAX)
  const inputs = toOneLine(call.inputs)
  const output = isTooDeep ? Buffer.from('null') : toOneLine(call.output)
  const attributes_json = renderJson(isTooDeep ? { ...attributes, output_cut: true } : attributes)
  const summary_json = renderJson(facts.summary)
  return {
    facts,
    attributes_json,
    summary_json,
    inputs,
    output,
    input_refs: findRefsInBytes(inputs, ref_scheme),
    output_refs: findRefsInBytes(output, ref_scheme),
    usage: readUsage(facts.summary),
    start_size_bytes: Buffer.byteLength(attributes_json) + inputs.length,
    end_size_bytes: output.length + Buffer.byteLength(summary_json),
  }
}

/** The row as the parts that a client would have sent. */
export function toCallParts(row: RecordedRow): CallParts {
  const { facts, attributes_json, summary_json, start_size_bytes, end_size_bytes } = row
  const { project_id, id } = facts
  return {
    start: {
      project_id,
      id,
      sent_trace_id: null,
      trace_id: facts.trace_id,
      parent_id: null,
      thread_id: null,
      turn_id: null,
      op_name: facts.op_name,
      display_name: null,
      started_at_us: facts.started_at_us,
      svc_user_id: facts.svc_user_id,
      svc_username: facts.svc_username,
      svc_run_id: null,
      svc_run_step: null,
      attributes_json,
      inputs_json: row.inputs.toString(),
      otel_dump_json: null,
      input_refs: row.input_refs,
      start_size_bytes,
    },
    end: {
      project_id,
      id,
      ended_at_us: facts.ended_at_us,
      exception: facts.exception,
      svc_run_step_end: null,
      output_json: row.output.toString(),
      summary_json,
      output_refs: row.output_refs,
      usage: row.usage,
      end_size_bytes,
    },
  }
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const SPACE = 32
const LAST_ASCII = 127

/**
 * The same JSON without line breaks, as stored texts must be: as it came where it has none, else printed anew
 * with every digit. A byte order mark before it is dropped.
 *
 * @param json - UTF-8 that has been parsed before
 */
export function toOneLine(json: Buffer): Buffer {
  if (isBare(json) && !json.includes(LINE_FEED) && !json.includes(CARRIAGE_RETURN)) return json
  const text = json.toString().trim()
  const isOneLine = !text.includes('\n') && !text.includes('\r')
  return Buffer.from(isOneLine ? text : renderJson(parseLossless(text)))
}

/** Whether nothing stands around it: all JSON begins and ends with a visible character of ASCII. */
function isBare(json: Buffer): boolean {
  return isVisible(json[0]) && isVisible(json.at(-1))
}

function isVisible(byte = 0): boolean {
  return byte > SPACE && byte < LAST_ASCII
}

/** Walks the value only when its bytes can hold a ref. */
function findRefsInBytes(json: Buffer, refScheme: string): string[] {
  const canHold = json.includes(`${refScheme}:///`) || canHide(json)
  return canHold ? findRefs(JSON.parse(json.toString()), refScheme) : []
}

const BACKSLASH = 92

/** Whether an escape may hide the start of a ref. */
function canHide(json: Buffer): boolean {
  return json.includes(BACKSLASH) && (json.includes('\\/') || json.includes('\\u'))
}
