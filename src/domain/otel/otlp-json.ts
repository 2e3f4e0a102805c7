/** Reads OTLP trace requests in JSON. Pure. Unknown members are ignored, as OTLP requires. */

import { isObject } from '../json/is-object.ts'
import { readSource, readSpan } from './otlp-fields.ts'
import { type Span, SpanError, type SpanSource } from './span.ts'

/** Spans that share a source, each still a message. */
interface JsonGroup {
  readonly source: SpanSource
  readonly spans: readonly unknown[]
}

/** Opens a request. @throws SpanError when the body is not such a message */
export function openJson(request: unknown): JsonGroup[] {
  return listOf(request, 'resourceSpans').flatMap((resourceSpans) =>
    listOf(resourceSpans, 'scopeSpans').map((scopeSpans) => ({
      source: readSource(memberOf(resourceSpans, 'resource'), memberOf(scopeSpans, 'scope')),
      spans: listOf(scopeSpans, 'spans'),
    })),
  )
}

/** Reads one span of a group. @throws SpanError */
export function readJsonSpan(span: unknown, source: SpanSource): Span {
  if (!isObject(span)) throw new SpanError('a span is not an object')
  return readSpan(span, source)
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = memberOf(value, name)
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) throw new SpanError(`${name} is no array`)
  return list
}

function memberOf(value: unknown, name: string): unknown {
  // A long number is kept as an object with its text.
  if (!isObject(value) || JSON.isRawJSON(value))
    throw new SpanError('the request is not a JSON object of OTLP')
  return value[name]
}
