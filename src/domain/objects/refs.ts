/** Ref strings: parsing, and finding them inside values. Pure. Spec: §2.1. */
import { isRefShape, type RefKind } from '../../schemas/shapes.ts'

/** Limit: refs extracted from one value; a call with more is stored, but found by the first ones only. */
export const REFS_PER_VALUE_MAX = 1000
const REF_LENGTH_MAX = 2048
/** Limit: refs of one value whose paths are stored. */
const PATHS_PER_VALUE_MAX = 32
/** Limits: keys of a path, and characters of its text. */
const PATH_KEYS_MAX = 4
const PATH_LENGTH_MAX = 200
const ALL_KINDS: readonly RefKind[] = ['object', 'op', 'call']

export interface ParsedRef {
  readonly scheme: string
  readonly project_id: string
  readonly kind: RefKind
  /** Name of an object or op, id of a call. */
  readonly name: string
  /** Version of an object or op; null for a call. */
  readonly digest: string | null
  /** The remaining segments, as `attr/rows/id/3`; '' when nothing does. */
  readonly edges: string
}

/** A ref inside a value. */
export interface FoundRef {
  readonly ref: string
  /** Path of the ref, in the form of refPath; null when no path is kept. */
  readonly path: string | null
}

/** Parses a ref; returns null for any other text. */
export function parseRef(text: string): ParsedRef | null {
  if (!isRefShape(text, ALL_KINDS)) return null
  const [scheme = '', path = ''] = text.split(':///', 2)
  const [entity, project, kind, name = '', ...edges] = path.split('/')
  const colon = kind === 'call' ? -1 : name.indexOf(':')
  return {
    scheme,
    project_id: `${entity}/${project}`,
    kind: kind as RefKind,
    name: colon === -1 ? name : name.slice(0, colon),
    digest: colon === -1 ? null : name.slice(colon + 1),
    edges: edges.join('/'),
  }
}

/**
 * Returns the path of a ref in a value as one text; null where it is too deep to be stored.
 *
 * @param keys - of the objects around it, the outermost first; none when the value is the ref
 */
export function refPath(keys: readonly string[]): string | null {
  if (keys.length > PATH_KEYS_MAX) return null
  const path = JSON.stringify(keys)
  return path.length > PATH_LENGTH_MAX ? null : path
}

/**
 * Returns the distinct refs among the strings of a JSON value, at most REFS_PER_VALUE_MAX, each with one of its
 * paths. Refs inside lists have none: there would be as many paths as lists are long.
 *
 * @param scheme - the server's own; a ref of another scheme is plain text
 */
export function findRefs(value: unknown, scheme: string): FoundRef[] {
  const prefix = `${scheme}:///`
  const found = new Map<string, readonly string[] | null>()
  const open: { value: unknown; keys: readonly string[] | null }[] = []

  function look(inner: unknown, keys: readonly string[] | null, key?: string): void {
    const isText = typeof inner === 'string'
    if (found.size === REFS_PER_VALUE_MAX) return
    if (isText && !(inner.length <= REF_LENGTH_MAX && inner.startsWith(prefix))) return
    if (!isText && (typeof inner !== 'object' || inner === null)) return
    const isKept = keys !== null && keys.length <= PATH_KEYS_MAX
    const at = isKept ? (key === undefined ? keys : [...keys, key]) : null
    if (!isText) open.push({ value: inner, keys: at })
    else if (isRefShape(inner, ALL_KINDS)) found.set(inner, found.get(inner) ?? at)
  }

  look(value, [])
  while (open.length > 0 && found.size < REFS_PER_VALUE_MAX) {
    const { value: next, keys } = open.pop() as (typeof open)[number]
    if (Array.isArray(next)) for (const item of next) look(item, null)
    else for (const [key, item] of Object.entries(next as object)) look(item, keys, key)
  }
  return Array.from(found, ([ref, keys], index) => ({
    ref,
    path: keys === null || index >= PATHS_PER_VALUE_MAX ? null : refPath(keys),
  }))
}

/**
 * Parses a ref or name in a filter, which matches exactly, or all versions when it ends in `:*`.
 *
 * @returns the prefix to match, colon included, or null for an exact match
 */
export function wildcardPrefix(pattern: string): string | null {
  return pattern.endsWith(':*') ? pattern.slice(0, -1) : null
}

/** Finds the refs in a value, which is walked only when its text can contain one. */
export function refsIn(json: string, value: unknown, refScheme: string): FoundRef[] {
  return json.includes(`${refScheme}:///`) ? findRefs(value, refScheme) : []
}
