/** Exports calls as OTLP spans in JSON. Pure. A call that was received as a span is exported unchanged. */
import { createHash } from 'node:crypto'
import type { StoredCall } from '../calls/call-view.ts'

type Json = Readonly<Record<string, unknown>>

/** A trace as an OTLP request in JSON: spans below their resource and scope, in the order in which they began. */
export function exportTrace(calls: readonly StoredCall[]): Json {
  const groups = new Map<string, { resource: unknown; scope: unknown; spans: Json[] }>()
  const byStart = [...calls].sort((left, right) => startOf(left).localeCompare(startOf(right)))
  for (const call of byStart) {
    const { resource = {}, scope = { name: 'weft' } } = call.otel_dump ?? {}
    const key = JSON.stringify([resource, scope])
    const group = groups.get(key) ?? { resource, scope, spans: [] }
    group.spans.push(toSpan(call))
    groups.set(key, group)
  }
  return {
    resourceSpans: [...groups.values()].map(({ resource, scope, spans }) => {
      const { attributes, ...named } = scope as Json
      return {
        resource: { attributes: toPairs(resource) },
        scopeSpans: [{ scope: { ...named, attributes: toPairs(attributes) }, spans }],
      }
    }),
  }
}

/** Nanoseconds as digits of one length, so that they can be compared as texts. */
function startOf(call: StoredCall): string {
  const sent = call.otel_dump?.start_time_unix_nano
  return String(typeof sent === 'string' ? sent : call.started_at_us * 1000).padStart(20, '0')
}

function toSpan(call: StoredCall): Json {
  const dump = call.otel_dump
  return dump !== null && typeof dump.span_id === 'string' ? fromDump(dump) : fromCall(call)
}

function fromDump(dump: Json): Json {
  return {
    traceId: dump.trace_id,
    spanId: dump.span_id,
    ...(dump.parent_span_id ? { parentSpanId: dump.parent_span_id } : {}),
    ...(dump.trace_state ? { traceState: dump.trace_state } : {}),
    name: dump.name,
    kind: dump.kind,
    startTimeUnixNano: dump.start_time_unix_nano,
    endTimeUnixNano: dump.end_time_unix_nano,
    attributes: toPairs(dump.attributes),
    events: listOf(dump.events).map((event) => ({
      name: event.name,
      timeUnixNano: event.time_unix_nano,
      attributes: toPairs(event.attributes),
    })),
    links: listOf(dump.links).map((link) => ({
      traceId: link.trace_id,
      spanId: link.span_id,
      attributes: toPairs(link.attributes),
    })),
    status: dump.status,
  }
}

/** A call that was never a span: its ids become hex of the right length, always the same. */
function fromCall(call: StoredCall): Json {
  const { exception, ended_at_us, started_at_us } = call
  return {
    traceId: hexOf(call.trace_id, 32),
    spanId: hexOf(call.id, 16),
    ...(call.parent_id === null ? {} : { parentSpanId: hexOf(call.parent_id, 16) }),
    name: call.display_name ?? call.op_name,
    kind: 1,
    startTimeUnixNano: `${started_at_us}000`,
    endTimeUnixNano: `${ended_at_us ?? started_at_us}000`,
    attributes: toPairs({
      'weft.call_id': call.id,
      'weft.op_name': call.op_name,
      ...(call.thread_id === null ? {} : { 'gen_ai.conversation.id': call.thread_id }),
      'input.value': JSON.stringify(call.inputs),
      ...(call.output === null ? {} : { 'output.value': JSON.stringify(call.output) }),
    }),
    status: exception === null ? { code: 0 } : { code: 2, message: exception },
  }
}

/** A UUID's digits, or those of a hash: the last ones, in which UUIDs of one moment differ. */
function hexOf(id: string, length: number): string {
  const digits = id.replaceAll('-', '').toLowerCase()
  const isHex = /^[0-9a-f]+$/.test(digits) && digits.length >= length
  const hex = isHex ? digits : createHash('sha256').update(id).digest('hex')
  return hex.slice(-length)
}

function toPairs(attributes: unknown): Json[] {
  return Object.entries((attributes ?? {}) as Json).map(([key, value]) => ({
    key,
    value: toValue(value),
  }))
}

function toValue(value: unknown): Json {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number' || JSON.isRawJSON(value)) {
    const digits = typeof value === 'number' ? String(value) : value.rawJSON
    return isInt64(digits) ? { intValue: digits } : { doubleValue: value }
  }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toValue) } }
  if (value === null || value === undefined) return {}
  return { kvlistValue: { values: toPairs(value) } }
}

function isInt64(digits: string): boolean {
  return /^-?\d{1,19}$/.test(digits) && BigInt.asIntN(64, BigInt(digits)) === BigInt(digits)
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value : []
}
