/** Redacts the texts of calls, and marks the calls in which something was redacted. Pure. */
import type { SpanLog } from '../calls/call-logs.ts'
import { type CallEnd, type CallParts, type CallStart, projectOfParts } from '../calls/new-call.ts'
import type { RecordedCall } from '../calls/recorded-call.ts'
import { renderJson } from '../json/json-text.ts'
import { objectOrEmpty, parseObject } from '../json/json-values.ts'
import type { RedactedCounts, Redactor } from './redaction.ts'

/** The member of attributes and summary with the counts by kind. */
const MARK = 'redacted'

function redactStart(start: CallStart, redactor: Redactor): CallStart {
  const counts: RedactedCounts = {}
  const { display_name, end_user_id, otel_dump_json } = start
  const json = (text: string) => redactor.redactJson(text, counts)
  const text = (value: string | null) => value && redactor.redactText(value, counts)
  const redacted = {
    display_name: text(display_name),
    end_user_id: text(end_user_id),
    inputs_json: json(start.inputs_json),
    otel_dump_json: otel_dump_json && json(otel_dump_json),
    attributes_json: json(start.attributes_json),
  }
  if (Object.keys(counts).length === 0) return start
  const attributes_json = addMark(redacted.attributes_json, counts)
  const bodies = [attributes_json, redacted.inputs_json, redacted.otel_dump_json ?? '']
  return { ...start, ...redacted, attributes_json, start_size_bytes: sumBytes(bodies) }
}

function redactEnd(end: CallEnd, redactor: Redactor): CallEnd {
  const counts: RedactedCounts = {}
  const exception = end.exception && redactor.redactText(end.exception, counts)
  const output_json = redactor.redactJson(end.output_json, counts)
  const summary = redactor.redactJson(end.summary_json, counts)
  if (Object.keys(counts).length === 0) return end
  const summary_json = addMark(summary, counts)
  const end_size_bytes = sumBytes([output_json, summary_json])
  return { ...end, exception, output_json, summary_json, end_size_bytes }
}

/** Returns the rules of a project; null: none. */
export type FindRedactor = (project_id: string) => Redactor | null

export function redactParts(parts: readonly CallParts[], find: FindRedactor): CallParts[] {
  return parts.map((part) => {
    const redactor = find(projectOfParts(part))
    if (redactor === null) return part
    const { start, end } = part
    return {
      start: start && redactStart(start, redactor),
      end: end && redactEnd(end, redactor),
    }
  })
}

/** Logs have no mark of their own: their events become part of a call. */
export function redactLogs(logs: readonly SpanLog[], find: FindRedactor): SpanLog[] {
  return logs.map((log) => {
    const event_json = find(log.project_id)?.redactJson(log.event_json, {})
    return event_json === undefined ? log : { ...log, event_json }
  })
}

export function redactRecorded(call: RecordedCall, find: FindRedactor): RecordedCall {
  const { facts, ...bodies } = call
  const redactor = find(facts.project_id)
  if (redactor === null) return call
  const counts: RedactedCounts = {}
  const json = (text: string) => redactor.redactJson(text, counts)
  const inputs_json = json(bodies.inputs_json)
  const output_json = json(bodies.output_json)
  const attributes = parseObject(json(renderJson(facts.attributes))) ?? {}
  const exception = facts.exception && redactor.redactText(facts.exception, counts)
  if (Object.keys(counts).length === 0) return call
  const marked = { ...attributes, [MARK]: counts } as typeof facts.attributes
  return { facts: { ...facts, exception, attributes: marked }, inputs_json, output_json }
}

/** Adds the counts to an object's JSON text. */
function addMark(json: string, counts: RedactedCounts): string {
  const known = json.includes(`"${MARK}"`) ? parseObject(json) : null
  if (known !== null)
    return renderJson({ ...known, [MARK]: { ...objectOrEmpty(known[MARK]), ...counts } })
  const member = `"${MARK}":${JSON.stringify(counts)}`
  const text = json.trimEnd()
  const isEmpty = /^\s*\{\s*\}$/.test(text)
  return `${text.slice(0, -1)}${isEmpty ? '' : ','}${member}}`
}

function sumBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
