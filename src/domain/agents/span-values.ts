/** The values of an agent span that queries, groups and measures read. Pure. */

import { ApiError } from '../../errors.ts'
import type { SpanValueRef } from '../../schemas/agents/span-values.ts'
import { timeValue, toText } from '../query/query-values.ts'
import {
  type AgentSpan,
  type CustomSource,
  customAttribute,
  durationUs,
  isInvocation,
  statusOf,
} from './agent-span.ts'
import { COLUMN_TYPES, columnOf } from './span-columns.ts'

export type ValueType = 'datetime' | 'number' | 'boolean' | 'string'

const CUSTOM_TYPES: Readonly<Record<CustomSource, ValueType>> = {
  custom_attrs_string: 'string',
  custom_attrs_int: 'number',
  custom_attrs_float: 'number',
  custom_attrs_bool: 'boolean',
}
const SOURCES = Object.keys(CUSTOM_TYPES) as CustomSource[]

const DERIVED: Readonly<Record<string, ValueType>> = {
  duration_ms: 'number',
  total_tokens: 'number',
  is_error: 'boolean',
  is_invocation: 'boolean',
}

const TIMES = new Set(['started_at', 'ended_at'])

/** Fields of a query: columns in any of their names, else attributes of the span's own. */
export const SPAN_FIELDS: ReadonlySet<string> = Object.assign(new Set<string>(), {
  has: (name: string) => name !== '',
})

/** The value of a field of a query; undefined when there is none. */
export function spanField(span: AgentSpan, path: readonly string[]): unknown {
  const name = path.join('.')
  if (name === 'started_at') return timeValue(span.call.started_at_us)
  if (name === 'ended_at') return timeValue(span.call.ended_at_us)
  if (Object.hasOwn(DERIVED, name)) return derivedValue(span, name)
  const column = columnOf(name)
  if (column) return span.columns[column]
  const [first = '', ...rest] = path
  const source = SOURCES.find((each) => each === first)
  if (source) return customAttribute(span, source, rest.join('.'))
  for (const each of SOURCES) {
    const value = customAttribute(span, each, name)
    if (value !== undefined) return value
  }
  return undefined
}

/** The type of what a ref names. @throws ApiError validation_failed for an unknown field */
export function typeOfRef({ source, key }: SpanValueRef, param: string): ValueType {
  if (source === 'derived' && Object.hasOwn(DERIVED, key)) return DERIVED[key] as ValueType
  if (source === 'field' || source === 'column') {
    if (TIMES.has(key)) return 'datetime'
    const column = columnOf(key)
    if (column) return COLUMN_TYPES[column]
  } else if (source !== 'derived') return CUSTOM_TYPES[source]
  const message = `${param} is not a field of spans; name other attributes by their source, such as custom_attrs_string.`
  throw new ApiError('validation_failed', { param, message })
}

/** The value of a ref as JSON, times as date-times; null when the span has none. */
export function valueOfRef(
  span: AgentSpan,
  { source, key }: SpanValueRef,
): string | number | boolean | null {
  if (source === 'derived') return derivedValue(span, key)
  if (source === 'field' || source === 'column') {
    if (TIMES.has(key)) return toText(spanField(span, [key]))
    const column = columnOf(key)
    return column && span.columns[column]
  }
  return customAttribute(span, source, key) ?? null
}

function derivedValue(span: AgentSpan, name: string): number | boolean | null {
  switch (name) {
    case 'duration_ms': {
      const us = durationUs(span)
      return us === null ? null : us / 1000
    }
    case 'total_tokens':
      return span.usage === null ? null : span.usage.prompt_tokens + span.usage.completion_tokens
    case 'is_error':
      return statusOf(span) === 'ERROR'
    default:
      return isInvocation(span)
  }
}
