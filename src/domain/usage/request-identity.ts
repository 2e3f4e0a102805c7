/**
 * Identifies the request to a model that a call reports the usage of. Several emitters may record one request, each as
 * a call of its own: its tokens count once. Pure.
 */
import { createHash } from 'node:crypto'
import { isObject } from '../json/is-object.ts'
import type { CallUsage } from './usage.ts'

/** Limits of a response id that identifies a request: characters, and different ones among them. */
const RESPONSE_ID_MIN = 16
const RESPONSE_ID_MAX = 512
const DIFFERENT_MIN = 6
/** Limit: characters of a JSON text that is parsed for its id. */
const JSON_MAX = 4 * 1024 * 1024
/** Limit: calls of one request; a response id that more of them share identifies nothing. */
export const REQUEST_CALLS_MAX = 16

/** What identifies requests in an end and a start, as far as each holds it. */
interface RequestMarks {
  /** Of a response that can identify its request; null: none. */
  readonly response_id?: string | null
  /** The call that made the same request, as the client names it; null: none. */
  readonly linked_id?: string | null
}

/** Attributes of spans with the id of the response. */
const SPAN_RESPONSE_IDS = ['gen_ai.response.id', 'ai.response.id', 'llm.response.id']

/** The last parts of the names of one model: its dates and versions. */
const MODEL_ENDING = /(?:[-@:](?:\d{4}-?\d{2}-?\d{2}|latest|v\d+(?::\d+)?))+$/
/** Regions and makers before the names of models on Bedrock. */
const BEDROCK_START = /^(?:(?:us|eu|apac|jp|au|global|us-gov)\.)?(?:[a-z0-9]+)\.(?=[a-z])/

/**
 * Returns the id of a response that can identify its request.
 *
 * Spec: §2.5 summary (usage not shown). Choice: ids of fewer than 16 characters, or of fewer than 6 different ones, identify nothing: some engines draw theirs
 * out of a thousand, and stubs write `chatcmpl-1`.
 */
function toResponseId(id: unknown): string | null {
  if (typeof id !== 'string' || id.length > RESPONSE_ID_MAX) return null
  return id.length >= RESPONSE_ID_MIN && new Set(id).size >= DIFFERENT_MIN ? id : null
}

/** Returns the id of a response that is an output: a chat completion, a response or a message. */
export function readResponseId(output: unknown): string | null {
  return isObject(output) ? toResponseId(output.id) : null
}

/** The id at the beginning of a JSON text, where providers write it. */
const FIRST_ID = /^\{\s*"id"\s*:\s*"([^"\\]*)"/

/** The same from the output as text, which is not parsed for it. */
export function readTextResponseId(output_json: string): string | null {
  return toResponseId(FIRST_ID.exec(output_json)?.[1])
}

/**
 * Returns the id of the response in the attributes of a span. OpenInference has it in the JSON of `output.value`, which may
 * be an event with the response as its data.
 */
export function readSpanResponseId(attributes: unknown): string | null {
  if (!isObject(attributes)) return null
  const given = SPAN_RESPONSE_IDS.map((name) => toResponseId(attributes[name]))
  const found = given.find((id) => id !== null)
  if (found) return found
  const output = parseObject(attributes['output.value'])
  return readResponseId(output) ?? readResponseId(isObject(output) ? output.data : null)
}

/**
 * Returns the call that a span names as the same request: weave marks spans that begin in one of its calls, and a span
 * may have one link. Of several links none is known to be that of the request.
 */
export function readLinkedCall(attributes: unknown, otel_dump: unknown): string | null {
  const weave = isObject(attributes) ? attributes.weave : null
  const parent = isObject(weave) ? weave.parent_call : null
  if (isObject(parent) && isCallId(parent.id)) return parent.id
  const links = isObject(otel_dump) ? otel_dump.links : null
  const [link] = Array.isArray(links) && links.length === 1 ? links : []
  return isObject(link) && isCallId(link.span_id) ? link.span_id : null
}

/** Returns the marks of a call from its stored texts. */
export function readStoredMarks(call: {
  readonly attributes_json: string | null
  readonly otel_dump_json: string | null
  readonly output_json: string | null
}): RequestMarks {
  const { otel_dump_json: dump_json, output_json } = call
  const linked_id = readStoredLink(call)
  const response_id = readResponseId(
    output_json?.includes('"id"') ? parseObject(output_json) : null,
  )
  if (response_id !== null || dump_json === null) return { response_id, linked_id }
  const span = parseObject(dump_json)
  return { response_id: readSpanResponseId(isObject(span) ? span.attributes : null), linked_id }
}

/** Returns the linked call of a stored start. */
export function readStoredLink({
  attributes_json: attributes,
  otel_dump_json: dump,
}: {
  readonly attributes_json: string | null
  readonly otel_dump_json: string | null
}): string | null {
  return readLinkedCall(
    attributes?.includes('"parent_call"') ? parseObject(attributes) : null,
    dump?.includes('"links":[{') ? parseObject(dump) : null,
  )
}

/**
 * Returns what is equal in all reports of one request: the model without provider, date and version, and the tokens.
 *
 * Spec: §2.5 summary (usage not shown). Choice: one response id with other tokens is another request, so that an id that is not unique hides no usage.
 *
 * @returns null where a call does not report one request to one model
 */
export function signatureOf(usage: readonly CallUsage[]): string | null {
  const [report] = usage
  if (report === undefined || usage.length > 1) return null
  const { model, requests, input_tokens, output_tokens } = report
  if (requests > 1 || input_tokens + output_tokens === 0) return null
  return `${familyOf(model)} ${input_tokens} ${output_tokens}`
}

/** The hash of a response id. */
export function responseKey(response_id: string): string {
  return hash(`response ${response_id}`)
}

/** The identity of the request of a response. @param response_key - null: not known. @returns null: none */
export function requestOf(response_key: string | null, signature: string): string | null {
  return response_key === null ? null : hash(`${response_key} ${signature}`)
}

/** The identity of the request of a call that others name, but whose response has no id. */
export function requestOfCall(id: string, signature: string): string {
  return hash(`call ${id} ${signature}`)
}

/** The name of a model without its provider, date and version. */
function familyOf(model: string): string {
  const name = model.toLowerCase()
  const own = name.slice(name.lastIndexOf('/') + 1)
  return own.replace(BEDROCK_START, '').replace(MODEL_ENDING, '') || name
}

function isCallId(id: unknown): id is string {
  return typeof id === 'string' && id.length > 0 && id.length <= 128
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

function parseObject(text: unknown): unknown {
  if (typeof text !== 'string' || text.length > JSON_MAX || !text.trimStart().startsWith('{'))
    return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A call that reports a request. */
interface RequestCall {
  readonly id: string
  readonly parent_id: string | null
  readonly started_at_us: number
  /** Whether its children report usage. */
  readonly hasReportsBelow: boolean
}

/**
 * Returns the call whose report of a request counts, the same whatever their order.
 *
 * Spec: §2.5 summary (usage not shown). Choice: of calls within each other the innermost, so that a parent that returns the response of its child does not
 * count in its place; of others the earliest, so that later copies change no past hour; then by id.
 *
 * @param calls - all that report it, at least one
 */
export function findCounting<Call extends RequestCall>(calls: readonly Call[]): Call {
  const parents = new Set(calls.map(({ parent_id }) => parent_id))
  const rank = ({ id, hasReportsBelow }: Call) =>
    (parents.has(id) ? 2 : 0) + (hasReportsBelow ? 1 : 0)
  return calls.reduce((best, call) => {
    const order = rank(call) - rank(best) || (isBefore(call, best) ? -1 : 1)
    return order < 0 ? call : best
  })
}

/** Whether a call is the first of two by start and id: of two that name each other as parents it is the parent. */
export function isBefore(
  call: Pick<RequestCall, 'id' | 'started_at_us'>,
  other: Pick<RequestCall, 'id' | 'started_at_us'>,
): boolean {
  if (call.started_at_us !== other.started_at_us) return call.started_at_us < other.started_at_us
  return call.id < other.id
}
