/** A call that was received as an OpenTelemetry span, in the terms of the agent API. Pure. */
import type { CUSTOM_SOURCES } from '../../schemas/agents/span-values.ts'
import type { CallTexts } from '../calls/call-view.ts'
import { parseLossless } from '../json/json-text.ts'
import { filledTextOrNull } from '../json/json-values.ts'
import { MODEL_KINDS, type StepKind } from '../otel/dialects/step-kinds.ts'
import type { Attributes, Span } from '../otel/span.ts'
import { readSpanFields } from '../otel/span-reader.ts'
import { readSpanUsage, type SpanUsage } from '../otel/span-usage.ts'
import {
  ATTRIBUTE_COLUMNS,
  type AttributeColumnName,
  type Column,
  isKnownAttribute,
} from './span-columns.ts'

type Status = 'UNSET' | 'OK' | 'ERROR'
export type CustomSource = (typeof CUSTOM_SOURCES)[number]
/** Attributes that no column shows, by the type of their value. */
export type CustomAttributes = Readonly<
  Record<CustomSource, Readonly<Record<string, string | number | boolean>>>
>

/** A span with its columns, which are null where it does not have them. Times are microseconds. */
export interface AgentSpan {
  readonly call: CallTexts
  /** Start in nanoseconds, which orders spans within a microsecond. */
  readonly start_ns: bigint
  readonly columns: Readonly<Record<Column, string | number | null>>
  readonly kind: StepKind | null
  readonly usage: SpanUsage | null
  readonly attributes: Attributes
}

type Dump = Omit<Span, 'start_ns' | 'end_ns'> & { readonly start_time_unix_nano?: string }

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'] as const
const STATUSES = ['UNSET', 'OK', 'ERROR'] as const

/** The conventions' names for steps that another dialect names differently. */
const OPERATIONS: Partial<Record<StepKind, string>> = {
  agent: 'invoke_agent',
  llm: 'chat',
  tool: 'execute_tool',
  embedding: 'embeddings',
  retriever: 'retrieval',
}

/**
 * The agent span of a call; null for a call that did not come as a span.
 *
 * Tokens are what the span itself reports, also where statistics leave them to the model calls below it.
 */
export function toAgentSpan(call: CallTexts): AgentSpan | null {
  if (call.otel_dump_json === null) return null
  const dump = parseLossless(call.otel_dump_json) as Dump
  if (typeof dump?.attributes !== 'object' || dump.attributes === null) return null
  const reader = readSpanFields(dump as unknown as Span)
  const { kind } = reader
  const columns = readColumns(dump.attributes)
  const usage = readSpanUsage(reader)
  const operation = filledTextOrNull(dump.attributes['gen_ai.operation.name'])
  return {
    call,
    start_ns: toNs(dump.start_time_unix_nano, call.started_at_us),
    kind,
    usage,
    attributes: dump.attributes,
    columns: {
      ...columns,
      trace_id: call.trace_id,
      span_id: call.id,
      parent_span_id: call.parent_id,
      // Clients may send any dump with a call.
      span_name: typeof dump.name === 'string' ? dump.name : call.op_name,
      span_kind: KINDS[dump.kind] ?? 'UNSPECIFIED',
      status_code: STATUSES[dump.status?.code ?? 0] ?? 'UNSET',
      status_message: filledTextOrNull(dump.status?.message),
      operation_name: operation ?? (kind && (OPERATIONS[kind] ?? kind)),
      conversation_id: call.thread_id,
      svc_user_id: call.svc_user_id,
      end_user_id: call.end_user_id,
      svc_run_id: call.svc_run_id,
      svc_run_step: call.svc_run_step,
      svc_run_step_end: call.svc_run_step_end,
      input_tokens: usage?.prompt_tokens ?? null,
      output_tokens: usage?.completion_tokens ?? null,
      reasoning_tokens: usage?.completion_tokens_details?.reasoning_tokens ?? null,
      cache_read_input_tokens: usage?.prompt_tokens_details?.cached_tokens ?? null,
      cache_creation_input_tokens: usage?.cache_creation_input_tokens ?? null,
    },
  }
}

/** Returns the text in a column; null for none and for an empty one. */
export function textColumn({ columns }: AgentSpan, name: Column): string | null {
  return filledTextOrNull(columns[name])
}

/** The duration of a span in microseconds; null while it runs. */
export function durationUs({ call }: AgentSpan): number | null {
  if (call.ended_at_us === null) return null
  return Math.max(0, call.ended_at_us - call.started_at_us)
}

export function statusOf({ columns }: AgentSpan): Status {
  return columns.status_code as Status
}

/** The order of two starts in nanoseconds. */
export function compareNs(left: bigint, right: bigint): number {
  return left < right ? -1 : Number(left > right)
}

export function isInvocation({ columns }: AgentSpan): boolean {
  return columns.operation_name === 'invoke_agent'
}

/** Whether the span itself is the call of a model; a span above one is not. */
export function isModelCall(span: AgentSpan): boolean {
  return span.kind === null ? modelOf(span) !== null : MODEL_KINDS.has(span.kind)
}

/** The model of the response, or else of the request. */
export function modelOf(span: AgentSpan): string | null {
  return textColumn(span, 'response_model') ?? textColumn(span, 'request_model')
}

/** The attributes that no column shows; lists and maps as JSON. */
export function readCustomAttributes({ attributes }: AgentSpan): CustomAttributes {
  const found = {
    custom_attrs_string: Object.create(null),
    custom_attrs_int: Object.create(null),
    custom_attrs_float: Object.create(null),
    custom_attrs_bool: Object.create(null),
  }
  for (const [key, value] of Object.entries(attributes)) {
    if (isKnownAttribute(key) || value === null) continue
    found[sourceOf(value)][key] = typeof value === 'object' ? JSON.stringify(value) : value
  }
  return found
}

/**
 * The value of an attribute that no column shows; undefined when the span has none of this type. Whole numbers are of the
 * type of fractions, too: among doubles some are whole, and JSON does not distinguish them from integers.
 */
export function customAttribute(
  { attributes }: AgentSpan,
  source: CustomSource,
  key: string,
): string | number | boolean | undefined {
  const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined
  if (value === undefined || value === null || isKnownAttribute(key)) return undefined
  const own = sourceOf(value)
  const isWhole = own === 'custom_attrs_int' && source === 'custom_attrs_float'
  if (own !== source && !isWhole) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : (value as string | number | boolean)
}

/** Numbers that a double would round are texts, as lists are. */
function sourceOf(value: unknown): CustomSource {
  if (typeof value === 'boolean') return 'custom_attrs_bool'
  if (typeof value !== 'number') return 'custom_attrs_string'
  return Number.isInteger(value) ? 'custom_attrs_int' : 'custom_attrs_float'
}

function readColumns(attributes: Attributes): Record<AttributeColumnName, string | number | null> {
  const entries = Object.entries(ATTRIBUTE_COLUMNS).map(([name, { type, keys }]) => {
    for (const key of keys) {
      const value = attributes[key]
      if (value === undefined || value === null || value === '') continue
      if (type === 'string')
        return [name, typeof value === 'string' ? value : JSON.stringify(value)]
      if (typeof value === 'number') return [name, value]
    }
    return [name, null]
  })
  return Object.fromEntries(entries)
}

function toNs(text: unknown, us: number): bigint {
  return typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : BigInt(us) * 1000n
}
