/**
 * Tidies the components of the document for tools. The type provider emits each schema twice, for requests and for
 * responses (`NameInput` and `Name`): if both are equal, or only one is used, one of them is removed.
 */

type Json = { [key: string]: unknown }

const PREFIX = '#/components/schemas/'
const NESTED_PREFIX = '#/$defs/'
const READ_SUFFIX = 'Input'

interface Parts {
  readonly paths?: unknown
  readonly components: { schemas: Json }
}

/** Returns the document with every reference resolved, and without components that nothing refers to. */
export function tidyComponents<T extends object>(document: T): T {
  const resolved = changeTree(document, readable) as T & Parts
  const { schemas } = resolved.components
  const names = mergedNames(schemas, usedNames(resolved, schemas))
  const renamed = renameRefs(resolved, names) as typeof resolved
  const kept = usedNames(resolved, schemas)
  renamed.components.schemas = Object.fromEntries(
    Object.entries(schemas)
      .filter(([name]) => kept.has(name))
      .map(([name, schema]) => [names.get(name) ?? name, renameRefs(schema, names)])
      .sort(([left], [right]) => (String(left) < String(right) ? -1 : 1)),
  )
  describeDefaults(renamed)
  return renamed
}

/** Keywords whose values are data, and keywords whose values are schemas by name. */
const DATA_KEYWORDS = ['const', 'default', 'enum', 'example', 'examples']
const MAP_KEYWORDS = ['properties', 'patternProperties']

/**
 * Moves the defaults of what clients send from `default` to the description. Generators of types make a property
 * with a default required, so that a correct small request would not compile. Responses keep theirs: there the
 * property is always present.
 */
function describeDefaults({ paths, components }: Parts): void {
  const operations = Object.values(paths ?? {}).flatMap((item) => Object.values(item as Json))
  const bodies = (operations as { requestBody?: Json }[]).flatMap(({ requestBody }) =>
    Object.values((requestBody?.content ?? {}) as Json),
  )
  for (const body of bodies as { schema?: unknown }[]) body.schema = withoutDefaults(body.schema)
  for (const name of usedNames({ paths: bodies }, components.schemas)) {
    components.schemas[name] = withoutDefaults(components.schemas[name])
  }
}

function withoutDefaults(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutDefaults)
  if (typeof node !== 'object' || node === null) return node
  const { default: value, ...rest } = node as Json
  const entries = Object.entries(rest).map(([keyword, inner]) => {
    if (DATA_KEYWORDS.includes(keyword)) return [keyword, inner]
    if (!MAP_KEYWORDS.includes(keyword)) return [keyword, withoutDefaults(inner)]
    const members = Object.entries(inner as Json).map(([name, one]) => [name, withoutDefaults(one)])
    return [keyword, Object.fromEntries(members)]
  })
  const schema = Object.fromEntries(entries)
  const { description = '' } = schema
  if (value === undefined || /\bdefault\b/i.test(description)) return schema
  return { ...schema, description: `${description} Default ${JSON.stringify(value)}.`.trim() }
}

/** Returns a copy of a tree in which each object was mapped, innermost first. */
function changeTree(node: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(node)) return node.map((entry) => changeTree(entry, change))
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([key, value]) => [key, changeTree(value, change)])
  return change(Object.fromEntries(entries))
}

/** Rewrites an object of the document with keywords that common tools support. */
function readable(object: Json): Json {
  const { $defs, ...rest } = object
  const { $ref, prefixItems, items } = rest
  if (typeof $ref === 'string' && $ref.startsWith(NESTED_PREFIX)) {
    // Where a schema refers to another in its metadata, it means the variant for requests.
    rest.$ref = `${PREFIX}${$ref.slice(NESTED_PREFIX.length)}${READ_SUFFIX}`
  }
  // minItems and maxItems mean the same; client generators do not accept a boolean here.
  if (Array.isArray(prefixItems) && items === false) delete rest.items
  // The format implies the pattern; one generator emits broken code if both are given.
  if (rest.format === 'uuid') delete rest.pattern
  return rest
}

/** Returns the names of the components that paths refer to, also indirectly. */
function usedNames({ paths }: Pick<Parts, 'paths'>, schemas: Json): Set<string> {
  const found = new Set<string>()
  const open = [paths]
  while (open.length > 0) {
    for (const name of refsIn(open.pop())) {
      if (found.has(name)) continue
      if (!(name in schemas)) throw new TypeError(`nothing has the name ${name}`)
      found.add(name)
      open.push(schemas[name])
    }
  }
  return found
}

function refsIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  const { $ref } = node as Json
  const own = typeof $ref === 'string' && $ref.startsWith(PREFIX) ? [$ref.slice(PREFIX.length)] : []
  return [...own, ...Object.values(node).flatMap(refsIn)]
}

/** Returns the names of request variants that need no name of their own. */
function mergedNames(schemas: Json, used: ReadonlySet<string>): Map<string, string> {
  const merged = new Map<string, string>()
  for (const name of used) {
    const written = name.slice(0, -READ_SUFFIX.length)
    if (name.endsWith(READ_SUFFIX) && written in schemas) merged.set(name, written)
  }
  // Two variants also differ if they refer to variants that differ: repeat until all remaining ones are equal.
  for (let before = -1; before !== merged.size; ) {
    before = merged.size
    for (const [name, written] of [...merged]) {
      const isSame =
        JSON.stringify(renameRefs(schemas[name], merged)) ===
        JSON.stringify(renameRefs(schemas[written], merged))
      if (!isSame && used.has(written)) merged.delete(name)
    }
  }
  return merged
}

function renameRefs(node: unknown, names: ReadonlyMap<string, string>): unknown {
  return changeTree(node, (object) => {
    const { $ref } = object
    if (typeof $ref !== 'string' || !$ref.startsWith(PREFIX)) return object
    const name = $ref.slice(PREFIX.length)
    return { ...object, $ref: `${PREFIX}${names.get(name) ?? name}` }
  })
}
