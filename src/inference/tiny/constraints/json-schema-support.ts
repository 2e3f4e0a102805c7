/** Which JSON Schemas the grammar engine enforces in full. Pure; it looks at keywords, not at values. */

import { isObject } from '../../../domain/json/is-object.ts'
import { findPatternFault, isQuotable } from './patterns/json-text-pattern.ts'
import { listPatterns, readRange } from './patterns/number-ranges.ts'

/** Keywords that the engine passes over. */
export const UNSUPPORTED = [
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'contains',
  'multipleOf',
  'propertyNames',
  'patternProperties',
  'minProperties',
  'maxProperties',
  '$dynamicRef',
  '$recursiveRef',
] as const
/** Rules of texts and of lists, which the engine passes over where it is not told the type. */
const TYPED = {
  string: ['pattern', 'minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
}
/** Keywords after which the engine reads nothing else of a schema. */
const ALONE = ['$ref', 'anyOf', 'oneOf', 'allOf', 'const', 'enum'] as const
/** Keywords that say nothing about values. */
const NOTES: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$defs',
  '$comment',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'nullable',
  'discriminator',
  'format',
])
export const LEVELS_MAX = 64

const TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'array',
  'object',
])

/** A schema that is no boolean. */
export type Schema = Readonly<Record<string, unknown>>

/**
 * Returns the first keyword, or combination of them, that cannot be enforced; null when all can.
 *
 * @param isStrict - whether the client demands that all of the schema is enforced: `format`, which is an annotation
 * elsewhere, then counts
 *
 * Spec: §4.3 structured_outputs json.
 * Choice: oneOf is read as anyOf where its branches differ by their types or constants.
 */
export function findUnsupportedKeyword(schema: unknown, isStrict: boolean): string | null {
  const findIn = (given: unknown, level: number): string | null => {
    if (!isObject(given)) return null
    if (level > LEVELS_MAX) return `more than ${LEVELS_MAX} levels`
    if (isStrict && given.format !== undefined) return 'format'
    const fault = findOwnFault(given, schema)
    if (fault !== null) return fault
    for (const child of childrenOf(given)) {
      const found = findIn(child, level + 1)
      if (found !== null) return found
    }
    return null
  }
  return findIn(schema, 0)
}

/** The first fault of a schema without those in it. */
export function findOwnFault(schema: Schema, root: unknown): string | null {
  const keyword = UNSUPPORTED.find((name) => schema[name] !== undefined)
  if (keyword !== undefined) return keyword
  if (schema.uniqueItems === true) return 'uniqueItems'
  return (
    findTypeFault(schema) ??
    findNameFault(schema) ??
    findPatternRule(schema) ??
    findReferenceFault(schema, root) ??
    findNumberFault(schema) ??
    findCombination(schema)
  )
}

function findTypeFault({ type }: Schema): string | null {
  if (type === undefined) return null
  const types = [type].flat()
  const isKnown = types.length > 0 && types.every((one) => TYPES.has(one))
  return isKnown ? null : 'an unknown type'
}

function findNameFault(schema: Schema): string | null {
  const names = new Set(isObject(schema.properties) ? Object.keys(schema.properties) : [])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  if ([...names].some((name) => /["\\\u0000-\u001f]/u.test(name))) {
    return 'a property name with a quote, a backslash or a control character'
  }
  const required = Array.isArray(schema.required) ? schema.required : []
  return required.every((name) => names.has(name)) ? null : 'required names without properties'
}

function findPatternRule({ pattern }: Schema): string | null {
  if (pattern === undefined) return null
  if (typeof pattern === 'string' && isQuotable(pattern)) return findPatternFault(pattern)
  return 'a pattern that could match a quote, a backslash or a control character'
}

function findReferenceFault({ $ref }: Schema, root: unknown): string | null {
  if ($ref === undefined) return null
  const reference = String($ref)
  if (!/^#(?:\/|$)/.test(reference)) return 'a $ref to another document or by an anchor'
  if (/\/(?:additional|unevaluated)Properties(?:\/|$)/.test(reference)) {
    return 'a $ref into additionalProperties'
  }
  return follow(root, reference) === undefined ? 'a $ref that leads nowhere' : null
}

function findNumberFault(schema: Schema): string | null {
  const range = readRange(schema)
  if (range === null) return null
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  if (!isNumber) return 'bounds of a number without the type integer or number'
  return listPatterns(range).length === 0 ? 'bounds that no number keeps' : null
}

function findCombination(schema: Schema): string | null {
  const values = schema.const === undefined ? schema.enum : [schema.const]
  if (Array.isArray(values) && schema.type !== undefined) {
    const types = [schema.type].flat()
    if (!values.every((value) => types.some((type) => isOfType(value, type)))) {
      return 'enum or const with a value of another type'
    }
  }
  if (Array.isArray(schema.enum) && schema.enum.length === 0) return 'enum without values'
  const alone = ALONE.find((name) => schema[name] !== undefined)
  if (alone !== undefined) {
    const isTyped = alone === 'const' || alone === 'enum'
    const others = Object.keys(schema).filter((name) => name !== alone && !NOTES.has(name))
    const other = others.find((name) => !(isTyped && name === 'type'))
    if (other !== undefined) return `${alone} beside ${other}`
  }
  if (Array.isArray(schema.allOf) && schema.allOf.length > 1) return 'allOf with several schemas'
  if (Array.isArray(schema.oneOf) && !areDistinct(schema.oneOf)) {
    return 'oneOf whose branches are not told apart by types or constants'
  }
  const untyped = schema.type === undefined ? findUntypedRule(schema) : null
  if (untyped !== null) return untyped
  const bounds = schema.minLength !== undefined || schema.maxLength !== undefined
  if (schema.pattern !== undefined && bounds) return 'pattern beside minLength or maxLength'
  return null
}

/** Whether the branches have different types, or different plain constants. */
function areDistinct(branches: readonly unknown[]): boolean {
  const schemas = branches.map((branch) => (isObject(branch) ? branch : {}))
  const types = schemas.map(({ type }) => (type === 'integer' ? 'number' : type))
  return areDifferent(types) || areDifferent(schemas.map((schema) => schema.const))
}

function areDifferent(values: readonly unknown[]): boolean {
  const arePlain = values.every((value) => value !== undefined && !(value instanceof Object))
  return arePlain && new Set(values).size === values.length
}

/** Resolves a JSON Pointer to its value; undefined where it has none. */
function follow(root: unknown, reference: string): unknown {
  if (reference === '#') return root
  const names = reference.startsWith('#/') ? reference.slice(2).split('/') : [null]
  return names.reduce<unknown>((parent, name) => {
    const key = name?.replaceAll('~1', '/').replaceAll('~0', '~') ?? ''
    const hasKey = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key)
    return hasKey ? (parent as Schema)[key] : undefined
  }, root)
}

function findUntypedRule(schema: Schema): string | null {
  // Of a schema with items the engine knows that it is a list.
  const isList = schema.items !== undefined || schema.prefixItems !== undefined
  for (const [type, rules] of Object.entries(TYPED)) {
    const rule = rules.find((name) => schema[name] !== undefined)
    if (rule !== undefined && !(type === 'array' && isList))
      return `${rule} without the type ${type}`
  }
  return null
}

function isOfType(value: unknown, type: unknown): boolean {
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  if (typeof value === 'number') {
    return type === 'number' || (type === 'integer' && Number.isInteger(value))
  }
  return typeof value === type
}

/** A copy with the schemas right below changed; a list of them is given as a whole. */
export function mapChildren(schema: Schema, change: (child: unknown) => unknown): Schema {
  const changeValue = (name: string, value: unknown): unknown => {
    if (MAPS.includes(name) && isObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(one)]))
    }
    return SCHEMAS.includes(name) ? change(value) : value
  }
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, changeValue(name, value)]),
  )
}

/** Keywords that hold schemas by name, and those that hold one schema or a list. */
const MAPS = ['properties', '$defs', 'definitions']
const SCHEMAS = [
  'items',
  'prefixItems',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'anyOf',
  'oneOf',
  'allOf',
]

function childrenOf(schema: Schema): unknown[] {
  const maps = MAPS.flatMap((name) => {
    const value = schema[name]
    return isObject(value) ? Object.values(value) : []
  })
  return [...maps, ...SCHEMAS.flatMap((name) => schema[name] ?? [])]
}
