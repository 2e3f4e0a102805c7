/** Reads a span by the tables of the dialects, and tracks which attributes were used. Pure. */
import { isObject } from '../json/is-object.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { parseLossless, toDouble } from '../json/json-text.ts'
import { findAt, growTree, removeAt, type Tree } from './attribute-tree.ts'
import type { AttributePath, Dialect, Form } from './dialects/dialect.ts'
import { DIALECTS } from './dialects/dialects.ts'
import { spreadObservation } from './dialects/langfuse-fields.ts'
import { pythonToJson } from './dialects/python-literal.ts'
import { STEP_KINDS, type StepKind } from './dialects/step-kinds.ts'
import type { Attributes, Span } from './span.ts'

/** Fields with paths. */
type Field = Exclude<
  keyof Dialect,
  | 'name'
  | 'scopes'
  | 'holders'
  | 'outputEvents'
  | 'attributeEvents'
  | 'countsCacheBeside'
  | 'countsThoughtsBeside'
  | 'failsByException'
>

/** A value and what the convention has at its place. */
export interface Found {
  readonly value: unknown
  readonly form: Form
}

export interface SpanReader {
  /**
   * The first value of a field, or null; texts that hold JSON are parsed where the convention has JSON. It is not shown
   * as an attribute again.
   */
  take(field: Field): Found | null
  /** The first value of a field that is a text and not empty, as it stands, for names; or null. */
  takeText(field: Field): string | null
  /** The first value of a field that is a text of 1 to 128 characters, for ids. */
  takeId(field: Field): string | null
  /** The first value of a field that is a number, or null; missing is not zero. */
  takeCount(field: Field): number | null
  /** Whether the dialect that has the input leaves out of it what a cache had or took. */
  countsCacheBeside(): boolean
  /** Whether the dialect that has the thoughts counts them in the total alone. */
  countsThoughtsBeside(): boolean
  /** Whether a dialect of the span's scope fails by an exception. */
  failsByException(): boolean
  /** The value of the last event that has what came out, or null. */
  eventOutput(): { readonly value: unknown } | null
  /** The kind of the span, or null when no dialect defines it. */
  readonly kind: StepKind | null
  /** What nothing was made of. */
  rest(): Tree
}

const ID_MAX = 128
/** An id of OpenAI's responses: where libraries name it as the conversation, each turn would begin a new one. */
const RESPONSE_ID = /^resp_/
/** Limit: levels of JSON within a text; deeper texts stay texts. */
const TEXT_DEPTH_MAX = JSON_DEPTH_MAX - 16

interface KnownPlace extends AttributePath {
  readonly parts: readonly string[]
  /** The path without its last part, and that part. */
  readonly parent: { readonly path: string; readonly parts: readonly string[] }
  readonly name: string
  readonly dialect: Dialect
}

/** AttributePaths of a field in all dialects, in their order. */
const PLACES = new Map<Field | 'holders', readonly KnownPlace[]>()

function placesOf(field: Field | 'holders'): readonly KnownPlace[] {
  const known = PLACES.get(field)
  if (known) return known
  const places = DIALECTS.flatMap((dialect) =>
    (dialect[field] ?? []).map((item) => {
      const place: AttributePath = typeof item === 'string' ? { path: item, form: 'json' } : item
      const parts = place.path.split('.')
      const above = parts.slice(0, -1)
      const parent = { path: above.join('.'), parts: above }
      return { ...place, parts, parent, name: parts.at(-1) as string, dialect }
    }),
  )
  PLACES.set(field, places)
  return places
}

/** Clients may send anything as the span of a call. */
function isOfScope({ scopes }: Dialect, span: Span): boolean {
  if (scopes === undefined) return true
  const name = String(span.scope?.name)
  return scopes.some((prefix) => name.startsWith(prefix))
}

const ATTRIBUTE_EVENTS = DIALECTS.flatMap(({ attributeEvents = [] }) => attributeEvents)

/** The attributes of the span, and those that events have in their place; a client's own span may have any events. */
function attributesOf({ events, attributes }: Span): Attributes {
  const listed = Array.isArray(events) ? (events as Span['events']) : []
  const held = ATTRIBUTE_EVENTS.flatMap(([name, ...without]) => {
    const event = listed.findLast((one) => one?.name === name)
    return Object.entries(event?.attributes ?? {}).filter(([key]) => !without.includes(key))
  })
  return held.length === 0 ? attributes : { ...Object.fromEntries(held), ...attributes }
}

function isMet({ when }: AttributePath, tree: Tree): boolean {
  if (when === undefined) return true
  const [path, ...texts] = when
  const value = findAt(tree, path)
  return texts.length === 0 ? value !== undefined : texts.includes(value as string)
}

export function readSpanFields(span: Span): SpanReader {
  const tree = growTree(attributesOf(span))
  parseHolders(tree, span)
  spreadObservation(tree, parseText)
  const taken: string[] = []
  const findPlace = (field: Field, accepts: (value: unknown) => boolean) => {
    for (const place of placesOf(field)) {
      const value = findAt(tree, place.path, place.parts)
      if (value === undefined || !accepts(value)) continue
      if (isOfScope(place.dialect, span) && isMet(place, tree)) return { place, value }
    }
    return null
  }
  const find = (field: Field, accepts: (value: unknown) => boolean): Found | null => {
    const found = findPlace(field, accepts)
    if (found === null) return null
    taken.push(found.place.path)
    return { value: found.value, form: formAt(tree, found.place) }
  }
  const kindName = find(
    'kind',
    (value) => typeof value === 'string' && STEP_KINDS.has(wordOf(value)),
  )
  return {
    take(field) {
      const found = find(field, (value) => value !== null && value !== '')
      if (found === null || found.form === 'text') return found
      const { value } = found
      if (found.form === 'items' && Array.isArray(value)) {
        return { value: value.map(parseText), form: 'json' }
      }
      if (found.form === 'python' && typeof value === 'string') {
        return { value: parseText(pythonToJson(value)), form: 'json' }
      }
      // What is JSON as a whole is not flattened.
      const form = typeof value === 'string' ? 'json' : found.form
      return { value: parseText(value), form }
    },
    takeText(field) {
      const found = find(field, (value) => typeof value === 'string' && value !== '')
      return found ? (found.value as string) : null
    },
    takeId(field) {
      const isOne = (text: string) => isId(text) && !(field === 'thread' && RESPONSE_ID.test(text))
      const found = find(field, (value) => typeof value === 'string' && isOne(value))
      return found ? (found.value as string) : null
    },
    takeCount(field) {
      const found = find(field, (value) => toCount(value) !== null)
      return found && toCount(found.value)
    },
    countsCacheBeside() {
      const found = findPlace('inputTokens', (value) => toCount(value) !== null)
      return found?.place.dialect.countsCacheBeside ?? false
    },
    countsThoughtsBeside() {
      const found = findPlace('reasoning', (value) => toCount(value) !== null)
      return found?.place.dialect.countsThoughtsBeside ?? false
    },
    failsByException: () =>
      DIALECTS.some((dialect) => dialect.failsByException && isOfScope(dialect, span)),
    eventOutput: () => outputOfEvent(span),
    kind: kindName && (STEP_KINDS.get(wordOf(kindName.value as string)) ?? null),
    rest() {
      for (const path of taken) removeAt(tree, path)
      return tree
    },
  }
}

/** What the span itself says of a value counts before what its convention has there. */
function formAt(tree: Tree, { form, mimeType }: AttributePath): Form {
  const told = mimeType === undefined ? undefined : findAt(tree, mimeType)
  return typeof told === 'string' && /^application\/(?:[\w.-]+\+)?json\b/i.test(told)
    ? 'json'
    : form
}

function wordOf(kind: string): string {
  return kind.toLowerCase()
}

/** Ids of threads, turns and users follow the rule of the client's ids. */
function isId(text: string): boolean {
  return text.length > 0 && text.length <= ID_MAX && !/[\p{C}\s]/u.test(text)
}

function toCount(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : toDouble(value)
  return typeof number === 'number' && Number.isFinite(number) && number >= 0
    ? Math.min(Math.trunc(number), Number.MAX_SAFE_INTEGER)
    : null
}

function outputOfEvent(span: Span): { readonly value: unknown } | null {
  const known = DIALECTS.filter((dialect) => isOfScope(dialect, span)).flatMap(
    ({ outputEvents = [] }) => outputEvents,
  )
  for (const [name, attribute] of known) {
    const event = span.events.findLast((one) => one.name === name)
    if (event) return { value: event.attributes[attribute] ?? event.attributes }
  }
  return null
}

/** Parses the keys that hold JSON in which further fields lie. */
function parseHolders(tree: Tree, span: Span): void {
  for (const place of placesOf('holders')) {
    const { parent, name } = place
    const holder = parent.parts.length === 0 ? tree : findAt(tree, parent.path, parent.parts)
    if (!isObject(holder) || !(name in holder) || !isOfScope(place.dialect, span)) continue
    const form = formAt(tree, place)
    if (form !== 'json' && form !== 'python') continue
    const value = holder[name]
    const isPrinted = form === 'python' && typeof value === 'string'
    const parsed = parseText(isPrinted ? pythonToJson(value) : value)
    if (!isPrinted || isObject(parsed)) (holder as Tree)[name] = parsed
  }
}

/** Parses a text that looks like JSON, with every digit of its numbers; any other stays a text. */
export function parseText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value
  if (exceedsDepth(value, TEXT_DEPTH_MAX)) return value
  try {
    return parseLossless(value)
  } catch {
    return value
  }
}
