/** Loosens schemas of tools to what the grammar engine can enforce. Pure. */
import { isObject } from '../../../domain/json/is-object.ts'
import {
  findOwnFault,
  findUnsupportedKeyword,
  LEVELS_MAX,
  mapChildren,
  type Schema,
  UNSUPPORTED,
} from './json-schema-support.ts'

/** Rules that are dropped together, in this order, until the others can be enforced. */
const DROPPED: readonly (readonly string[])[] = [
  [...UNSUPPORTED, 'uniqueItems'],
  ['pattern'],
  ['minLength', 'maxLength', 'minItems', 'maxItems'],
  ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
]
const COMBINED = ['$ref', 'anyOf', 'oneOf', 'allOf']

/**
 * A schema that can be enforced in full, and that every value of the given one satisfies.
 *
 * @param schema - a schema of an object
 *
 * Spec: §4.3 tools.
 * Choice: without `strict`, rules of a tool's parameters that cannot be enforced are left to the client. A oneOf
 * becomes an anyOf; a subschema of which nothing can be enforced becomes one of its type, or any value.
 */
export function loosenSchema(schema: Schema): Schema {
  const loosen = (given: unknown, level: number): unknown => {
    if (Array.isArray(given)) return given.map((one) => loosen(one, level))
    if (!isObject(given)) return given
    if (level > LEVELS_MAX) return {}
    const isEnforced = (one: Schema): boolean => findOwnFault(one, schema) === null
    let one = nameRequired(separate(mapChildren(given, (child) => loosen(child, level + 1))))
    for (const names of DROPPED) {
      if (isEnforced(one)) return one
      one = omit(one, names)
    }
    if (isEnforced(one)) return one
    const { $defs, definitions, type } = one
    const bare = {
      ...($defs !== undefined && { $defs }),
      ...(definitions !== undefined && { definitions }),
    }
    return isEnforced({ type }) ? { ...bare, type } : bare
  }
  const loosened = loosen(schema, 0)
  const isKept = isObject(loosened) && findUnsupportedKeyword(loosened, false) === null
  return isKept ? loosened : { type: 'object' }
}

/** The schema with its type or values instead of alternatives beside them, and with anyOf for oneOf. */
function separate(schema: Schema): Schema {
  const isSaid = ['type', 'const', 'enum', 'properties'].some((name) => schema[name] !== undefined)
  if (isSaid) return omit(schema, COMBINED)
  const { oneOf, ...rest } = schema
  return oneOf === undefined || rest.anyOf !== undefined ? rest : { ...rest, anyOf: oneOf }
}

/** The schema with a property for each name that it requires. */
function nameRequired(schema: Schema): Schema {
  const { required, properties } = schema
  if (!Array.isArray(required)) return schema
  const named = isObject(properties) ? properties : {}
  const missing = required.filter(
    (name): name is string => typeof name === 'string' && !Object.hasOwn(named, name),
  )
  if (missing.length === 0) return schema
  return {
    ...schema,
    properties: { ...named, ...Object.fromEntries(missing.map((name) => [name, {}])) },
  }
}

function omit(schema: Schema, names: readonly string[]): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))
}
