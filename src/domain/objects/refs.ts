/** Ref strings: parsing, and finding them inside values. Pure. Spec: §2.1. */
import { isRefShape, type RefKind } from '../../schemas/primitives.ts'

/** Limit: refs taken out of one value; a call with more is stored, but found by the first ones only. */
export const REFS_PER_VALUE_MAX = 1000
const REF_LENGTH_MAX = 2048
const ALL_KINDS: readonly RefKind[] = ['object', 'op', 'call']

export interface ParsedRef {
  readonly scheme: string
  readonly project_id: string
  readonly kind: RefKind
  /** Name of an object or op, id of a call. */
  readonly name: string
  /** Version of an object or op; null for a call. */
  readonly digest: string | null
  /** What follows, as `attr/rows/id/3`; '' when nothing does. */
  readonly edges: string
}

/** Parses a ref; null when the text is none. */
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
 * The distinct refs among the strings of a JSON value, at most REFS_PER_VALUE_MAX.
 *
 * @param scheme - the server's own; a ref of another scheme is plain text
 */
export function findRefs(value: unknown, scheme: string): string[] {
  const prefix = `${scheme}:///`
  const found = new Set<string>()
  const open: unknown[] = [value]
  while (open.length > 0 && found.size < REFS_PER_VALUE_MAX) {
    const next = open.pop()
    if (typeof next === 'string') {
      const isRef = next.length <= REF_LENGTH_MAX && next.startsWith(prefix)
      if (isRef && isRefShape(next, ALL_KINDS)) found.add(next)
    } else if (typeof next === 'object' && next !== null) {
      for (const item of Object.values(next)) open.push(item)
    }
  }
  return [...found]
}

/**
 * How a ref or name in a filter matches: exactly, or all versions when it ends in `:*`.
 *
 * @returns the prefix to match, colon included, or null for an exact match
 */
export function wildcardPrefix(pattern: string): string | null {
  return pattern.endsWith(':*') ? pattern.slice(0, -1) : null
}
