/**
 * Reads OTLP trace requests in JSON. Pure.
 *
 * Spec: none, an addition. Choice: beside the names of OTLP those of protobuf's fields are read (`resource_spans`), as
 * protobuf's mapping to JSON allows, and those before opentelemetry-proto 0.15 (`instrumentationLibrarySpans`,
 * `instrumentationLibrary`). Unknown members are ignored, as OTLP requires; the response names one that stands where
 * spans should be.
 */
import { isObject } from '../json/is-object.ts'
import {
  createSpanCount,
  type LogRecord,
  readLogRecord,
  readSource,
  readSpan,
} from './otlp-fields.ts'
import { type Span, SpanError, type SpanSource } from './span.ts'

/** Spans that share a source, each still a message. */
interface JsonGroup {
  readonly source: SpanSource
  readonly spans: readonly unknown[]
}

/** Limit: characters of an unknown name that a message repeats. */
const NAME_CHARS_MAX = 40

/** Names of the lists that lead to spans, and to records. */
const LISTS = {
  traces: ['resourceSpans', 'scopeSpans', 'spans', 'instrumentationLibrarySpans'],
  logs: ['resourceLogs', 'scopeLogs', 'logRecords', 'instrumentationLibraryLogs'],
} as const
export type Signal = keyof typeof LISTS

/** Opens a request. @throws SpanError when the body is not such a message; ApiError request_too_large */
export function openJson(
  request: unknown,
  signal: Signal,
): {
  readonly groups: readonly JsonGroup[]
  /** Which member is unknown, where there is no list of spans beside it; null for none. */
  readonly unread: string | null
} {
  const [ofResources, ofScopes, ofItems, ofLibraries] = LISTS[signal]
  let unread: string | null = null
  const addToCount = createSpanCount()

  function listOf(message: Members, ...names: readonly string[]): readonly unknown[] {
    // Senders that fill both lists publish the same spans twice.
    const name = names.find((one) => isFilled(message[one]))
    if (name !== undefined) {
      const list = requireList(message[name], name)
      addToCount(list.length)
      return list
    }
    if (names.some((one) => Array.isArray(message[one]))) return []
    const unknown = Object.keys(message).find((one) => !PLAIN_MEMBERS.has(one))
    if (unknown !== undefined && !names.includes(unknown)) {
      unread ??= `${JSON.stringify(unknown.slice(0, NAME_CHARS_MAX))} is not read; ${ofItems} are in ${ofResources}[].${ofScopes}[].${ofItems}`
    }
    return []
  }

  const groups = listOf(membersOf(request), ofResources).flatMap((item) => {
    const resourceSpans = membersOf(item)
    return listOf(resourceSpans, ofScopes, ofLibraries).map((inner) => {
      const scopeSpans = membersOf(inner)
      const scope = scopeSpans.scope ?? scopeSpans.instrumentationLibrary
      return {
        source: readSource(resourceSpans.resource, scope),
        spans: listOf(scopeSpans, ofItems),
      }
    })
  })
  return { groups, unread }
}

/** Reads one span of a group. @throws SpanError */
export function readJsonSpan(span: unknown, source: SpanSource): Span {
  if (!isObject(span)) throw new SpanError('a span is not an object')
  return readSpan(inCamelCase(span), source)
}

/** Reads one record of a group. @throws SpanError */
export function readJsonRecord(record: unknown): LogRecord {
  if (!isObject(record)) throw new SpanError('a record is not an object')
  return readLogRecord(inCamelCase(record))
}

type Members = Readonly<Record<string, unknown>>

/** Members beside the lists of spans. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set([
  'resource',
  'scope',
  'instrumentationLibrary',
  'schemaUrl',
])

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

function requireList(list: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(list)) throw new SpanError(`${name} is no array`)
  return list
}

function membersOf(value: unknown): Members {
  // A long number is kept as an object with its text.
  if (!isObject(value) || JSON.isRawJSON(value))
    throw new SpanError('the request is not a JSON object of OTLP')
  return inCamelCase(value)
}

/** A message and all in it, renamed when one of its own members has the name of protobuf's field. */
function inCamelCase(message: Members): Members {
  const isRenamed = Object.keys(message).some((name) => name.includes('_'))
  return isRenamed ? (renamed(message) as Members) : message
}

/** Every object of OTLP is a message: keys of users are values of `key`. */
function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed)
  if (!isObject(value) || JSON.isRawJSON(value)) return value
  const entries = Object.entries(value).map(([name, inner]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    renamed(inner),
  ])
  return Object.fromEntries(entries)
}
