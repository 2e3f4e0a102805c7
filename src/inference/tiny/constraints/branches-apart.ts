/** Whether the branches of a oneOf exclude each other, so that it says the same as anyOf. Pure. */
import { isObject } from '../../../domain/json/is-object.ts'

type Keywords = Readonly<Record<string, unknown>>

/** Limit: values, names and references looked at in one schema; branches may be shared by many lists. */
const LOOKS_MAX = 100_000
const REFERENCES_MAX = 16

/**
 * A check of lists of branches within a schema, which sees through references. It may say no needlessly.
 *
 * @param root - the whole schema
 *
 * Spec: §4.3 structured_outputs json.
 * Choice: branches are told apart by their types, by their values, or, as objects, by those of a property that all of
 * them require.
 */
export function createBranchCheck(root: unknown): (branches: readonly unknown[]) => boolean {
  let looks = 0
  const look = (): boolean => looks++ < LOOKS_MAX

  const resolve = (given: unknown): Keywords | null => {
    let schema = given
    for (let hops = 0; hops < REFERENCES_MAX && look(); hops++) {
      if (!isObject(schema)) return null
      if (typeof schema.$ref !== 'string') return schema
      schema = follow(root, schema.$ref)
    }
    return null
  }

  const differ = (schemas: readonly unknown[]): boolean => {
    const types = new Set<string>()
    const values = new Set<string>()
    const typesOfValues = new Set<string>()
    for (const given of schemas) {
      const schema = resolve(given)
      if (schema === null) return false
      const own = listValues(schema)
      // A value that is listed twice in one branch is in one branch only.
      for (const token of new Set(own?.map(spell) ?? listTypes(schema))) {
        const taken = own === null ? types : values
        if (!look() || token === '' || taken.has(token)) return false
        taken.add(token)
      }
      for (const value of own ?? []) typesOfValues.add(typeOf(value))
    }
    return [...typesOfValues].every((type) => !types.has(type))
  }

  const haveKey = (objects: readonly Keywords[]): boolean => {
    const [first, ...rest] = objects.map((object) => new Set(listRequired(object).filter(look)))
    const shared = [...(first ?? [])].filter((name) => rest.every((names) => names.has(name)))
    return shared.some((name) => differ(objects.map((object) => propertyOf(object, name))))
  }

  return (branches) => {
    const schemas = branches.map(resolve).filter((schema) => schema !== null)
    if (schemas.length < branches.length) return false
    const objects = schemas.filter(isPlainObject)
    const others = schemas.filter((schema) => !isPlainObject(schema))
    const kinds = objects.length === 0 ? others : [...others, { type: 'object' }]
    return differ(kinds) && (objects.length < 2 || haveKey(objects))
  }
}

/** Where a reference leads to; undefined for nowhere. */
export function follow(root: unknown, reference: string): unknown {
  if (reference === '#') return root
  const names = reference.startsWith('#/') ? reference.slice(2).split('/') : [null]
  return names.reduce<unknown>((place, name) => {
    const key = name?.replaceAll('~1', '/').replaceAll('~0', '~') ?? ''
    const isThere = typeof place === 'object' && place !== null && Object.hasOwn(place, key)
    return isThere ? (place as Keywords)[key] : undefined
  }, root)
}

function isPlainObject(schema: Keywords): boolean {
  return schema.type === 'object' && listValues(schema) === null
}

function listRequired({ required }: Keywords): unknown[] {
  return Array.isArray(required) ? required : []
}

function propertyOf({ properties }: Keywords, name: unknown): unknown {
  const isThere =
    isObject(properties) && typeof name === 'string' && Object.hasOwn(properties, name)
  return isThere ? properties[name] : undefined
}

/** The values that a schema lists, or null. */
function listValues({ const: only, enum: values }: Keywords): readonly unknown[] | null {
  if (only !== undefined) return [only]
  return Array.isArray(values) ? values : null
}

/** The types of a schema; an empty text for one that is not said. */
function listTypes({ type }: Keywords): readonly string[] {
  const types = [type].flat()
  if (types.length === 0) return ['']
  return types.map((one) => (typeof one === 'string' ? toKind(one) : ''))
}

function toKind(type: string): string {
  return type === 'integer' ? 'number' : type
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The same text for equal values, in whatever order their names stand. */
function spell(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted()) : part,
  )
}
