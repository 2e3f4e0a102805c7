/** Converts schemas of the Gemini API, a dialect of OpenAPI's, to JSON Schema. Pure. */
import { isObject } from '../../json/is-object.ts'
import { isGiven } from '../../json/json-values.ts'

type Fields = Readonly<Record<string, unknown>>

/** Members that hold one schema, a list of schemas, and schemas by name. */
const SCHEMA_MEMBERS = new Set(['items', 'additionalProperties', 'not'])
const LIST_MEMBERS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const MAP_MEMBERS = new Set(['properties', '$defs', 'defs', 'definitions'])
/** Limits, which the API's JSON has as texts. */
const COUNTS = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
/** Hints that JSON Schema does not have. */
const LEFT_OUT = new Set(['propertyOrdering', 'nullable', 'example'])

/**
 * Returns the JSON Schema: types in small letters, limits as numbers, `nullable` as a further type. What is JSON Schema
 * already stays as it is.
 */
export function toJsonSchema(schema: object): Fields {
  const fields = schema as Fields
  const entries = Object.entries(fields)
    .filter(([name, value]) => isGiven(value) && !LEFT_OUT.has(name))
    .map(([name, value]) => [name, toMember(name, value)] as const)
  const converted = Object.fromEntries(entries)
  if (fields.nullable !== true || typeof converted.type !== 'string') return converted
  return { ...converted, type: [converted.type, 'null'] }
}

function toMember(name: string, value: unknown): unknown {
  if (name === 'type' && typeof value === 'string') return value.toLowerCase()
  if (COUNTS.has(name) && typeof value === 'string' && /^\d{1,15}$/.test(value))
    return Number(value)
  if (SCHEMA_MEMBERS.has(name) && isObject(value)) return toJsonSchema(value)
  if (LIST_MEMBERS.has(name) && Array.isArray(value)) return value.map(toSchema)
  if (MAP_MEMBERS.has(name) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toSchema(one)]))
  }
  return value
}

function toSchema(value: unknown): unknown {
  return isObject(value) ? toJsonSchema(value) : value
}
