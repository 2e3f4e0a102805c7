/** Refs that can be resolved, and the path inside a value. Pure. Spec: §2.1. */

type RefEdgeKind = 'attr' | 'key' | 'index' | 'id'

/** One step into a value. */
export interface RefEdge {
  readonly kind: RefEdgeKind
  /** The segment, decoded; digits for an index. */
  readonly value: string
}

export interface ReadableRef {
  readonly project_id: string
  readonly target:
    | { readonly kind: 'object'; readonly object_id: string; readonly version: string }
    | { readonly kind: 'table'; readonly digest: string }
  readonly edges: readonly RefEdge[]
}

/** Projects and aliases may have spaces inside. */
const SHAPE =
  /^[a-z][a-z0-9+.-]*:\/\/\/([^/\p{C}]+\/[^/\p{C}]+)\/(?:(?:object|op)\/([^/:\s]+):([^/:\p{C}]+)|table\/([^/:\s]+))((?:\/[^/]*)*)$/u
const EDGE_KINDS: readonly string[] = ['attr', 'key', 'index', 'id'] satisfies RefEdgeKind[]
const INDEX = /^\d{1,15}$/
/** Occurs in no name and no digest; not every store can query a text that contains it. */
const NUL = '\0'
/** Limit: refs to follow from one ref. */
export const HOPS_MAX = 16
/** Limit: steps of one ref. */
const EDGES_MAX = 64

/**
 * Parses an object, op or table ref with its edges.
 *
 * @returns null for a call ref and for text that is no ref
 *
 * Spec: §2.1 (edges and table refs are not shown). Choice: calls are read by their own routes, not by ref.
 */
export function parseReadableRef(text: string): ReadableRef | null {
  const match = SHAPE.exec(text)
  if (!match || text.includes(NUL)) return null
  const [, project_id = '', object_id, version = '', digest = '', tail = ''] = match
  const edges = parseEdges(tail.split('/').slice(1))
  if (edges === null) return null
  const target =
    object_id === undefined
      ? ({ kind: 'table', digest } as const)
      : ({ kind: 'object', object_id, version } as const)
  return { project_id, target, edges }
}

function parseEdges(parts: readonly string[]): RefEdge[] | null {
  if (parts.length % 2 === 1 || parts.length > 2 * EDGES_MAX) return null
  const edges: RefEdge[] = []
  for (let at = 0; at < parts.length; at += 2) {
    const kind = parts[at] ?? ''
    const value = decode(parts[at + 1] ?? '')
    if (!EDGE_KINDS.includes(kind) || (kind === 'index' && !INDEX.test(value))) return null
    if (kind === 'id' && value.includes(NUL)) return null
    edges.push({ kind: kind as RefEdgeKind, value })
  }
  return edges
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Returns the result of one step into a parsed value; rows of a table are reached elsewhere.
 *
 * @returns null when the value has no such part
 */
export function stepInto(value: unknown, { kind, value: name }: RefEdge): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return null
  if (kind === 'index') return Array.isArray(value) ? (value[Number(name)] ?? null) : null
  if (kind === 'id' || Array.isArray(value) || !Object.hasOwn(value, name)) return null
  return (value as Record<string, unknown>)[name] ?? null
}
