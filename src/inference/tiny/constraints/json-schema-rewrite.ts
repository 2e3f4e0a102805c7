/**
 * Rewrites the parts of schemas that the grammar engine would enforce wrongly. Every value that satisfies the new
 * schema must satisfy the old one; the reverse need not hold. Pure.
 */

import { isObject } from '../../../domain/json/is-object.ts'
import { mapChildren, type Schema } from './json-schema-support.ts'
import { toWholePattern } from './patterns/json-text-pattern.ts'
import { listPatterns, readRange } from './patterns/number-ranges.ts'
import type { Pattern } from './patterns/pattern-grammar.ts'

/** What says which items or properties there may be. */
const LIST_RULES = ['items', 'prefixItems', 'unevaluatedItems']
const OBJECT_RULES = ['properties', 'additionalProperties', 'unevaluatedProperties']

const NOTES = new Set(['title', 'description', '$comment', 'default', 'examples', 'format'])

/** A schema with placeholders for some of its subschemas, and the meaning of each. */
export interface MarkedSchema {
  readonly schema: unknown
  /** Mark to texts. A mark is a text that occurs nowhere else in the schema. */
  readonly marks: ReadonlyMap<string, readonly Pattern[]>
}

/**
 * The schema with marks in place of its lists of values and of its numbers that have bounds.
 *
 * @param schema - one that `findUnsupportedKeyword` found nothing in
 *
 * Spec: §4.3 structured_outputs json.
 * Choice: objects with properties get no others, even where additionalProperties allows them; format is an annotation.
 */
export function rewriteSchema(schema: unknown): MarkedSchema {
  const marks = new Map<string, readonly Pattern[]>()
  const text = JSON.stringify(schema)
  const used = text.match(/mark-+/g) ?? []
  const prefix = `${used.reduce((longest, mark) => (mark.length > longest.length ? mark : longest), 'mark')}-`
  const rewrite = (given: unknown): unknown => {
    if (!isObject(given)) return Array.isArray(given) ? given.map(rewrite) : given
    const one = withoutNotes(given)
    const patterns = listValues(one)
    if (patterns === null) {
      return rewriteText(openPlain(closeNamed(mapChildren(one, rewrite))))
    }
    const name = `${prefix}${marks.size}`
    marks.set(name, patterns)
    return { const: name }
  }
  return { schema: rewrite(schema), marks }
}

/** The schema without texts about it, which may be most of it. */
function withoutNotes(schema: Schema): Schema {
  const rules = Object.entries(schema).filter(([name]) => !NOTES.has(name))
  return Object.fromEntries(rules)
}

/** The texts of a schema that has finitely many values, or null. */
function listValues(schema: Schema): readonly Pattern[] | null {
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => Array.from(JSON.stringify(value)))
  }
  const range = readRange(schema)
  return range === null ? null : listPatterns(range)
}

/** Why: the engine would let in a further property of a declared name, whose value would not be that one's. */
function closeNamed(schema: Schema): Schema {
  const { properties, unevaluatedProperties: _, ...rest } = schema
  if (!isObject(properties) || Object.keys(properties).length === 0) return schema
  return { ...rest, properties, additionalProperties: false }
}

/**
 * Allows any items and properties where a schema says nothing about them: the engine would else allow none in a list or
 * an object that has bounds or that a reference leads to.
 */
function openPlain(schema: Schema): Schema {
  const types = [schema.type].flat()
  const isPlain = (type: string, rules: readonly string[]): boolean =>
    types.includes(type) && rules.every((rule) => schema[rule] === undefined)
  return {
    ...schema,
    ...(isPlain('array', LIST_RULES) && { items: {} }),
    ...(isPlain('object', OBJECT_RULES) && { additionalProperties: true }),
  }
}

function rewriteText(schema: Schema): Schema {
  const pattern = typeof schema.pattern === 'string' ? toWholePattern(schema.pattern) : null
  return pattern === null ? schema : { ...schema, pattern }
}

/**
 * The schema without properties that it does not name.
 *
 * Spec: §4.3 structured_outputs disable_additional_properties.
 */
export function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects)
  if (!isObject(schema)) return schema
  const { additionalProperties, unevaluatedProperties, ...rest } = schema
  const closed = mapChildren(rest, closeObjects)
  const isObjectType = [rest.type].flat().includes('object') || rest.properties !== undefined
  const isOpen = additionalProperties !== undefined || unevaluatedProperties !== undefined
  return isObjectType || isOpen ? { ...closed, additionalProperties: false } : closed
}
