/**
 * The components of the document as tools can use them. Each schema comes twice out of the type provider, as it
 * is read and as it is written (`NameInput` and `Name`): one is left where both are the same, or only one is used.
 */

type Json = { [key: string]: unknown }

const PREFIX = '#/components/schemas/'
const NESTED_PREFIX = '#/$defs/'
const READ_SUFFIX = 'Input'

interface Parts {
  readonly paths?: unknown
  readonly components: { schemas: Json }
}

/** The document with every reference resolved, and no component that nothing refers to. */
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
  return renamed
}

/** A copy of a tree in which each object was changed, the innermost first. */
function changeTree(node: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(node)) return node.map((entry) => changeTree(entry, change))
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([key, value]) => [key, changeTree(value, change)])
  return change(Object.fromEntries(entries))
}

/** An object of the document in words that common tools know. */
function readable(object: Json): Json {
  const { $defs, ...rest } = object
  const { $ref, prefixItems, items } = rest
  if (typeof $ref === 'string' && $ref.startsWith(NESTED_PREFIX)) {
    // Where a schema describes another in its metadata, always as it is read.
    rest.$ref = `${PREFIX}${$ref.slice(NESTED_PREFIX.length)}${READ_SUFFIX}`
  }
  // minItems and maxItems say the same; generators of clients take no boolean here.
  if (Array.isArray(prefixItems) && items === false) delete rest.items
  // The format says it; one generator writes broken code where both are given.
  if (rest.format === 'uuid') delete rest.pattern
  return rest
}

/** Names of the components that paths reach, through others too. */
function usedNames({ paths }: Parts, schemas: Json): Set<string> {
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

/** The names of what is read that need no name of their own. */
function mergedNames(schemas: Json, used: ReadonlySet<string>): Map<string, string> {
  const merged = new Map<string, string>()
  for (const name of used) {
    const written = name.slice(0, -READ_SUFFIX.length)
    if (name.endsWith(READ_SUFFIX) && written in schemas) merged.set(name, written)
  }
  // Two that differ take those apart that refer to them, until all that are left are the same.
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
