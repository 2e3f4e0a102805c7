/** Columns of calls whose refs are expanded. Pure; the caller provides the targets of refs. */
import { parsePath } from '../query/query-expression.ts'
import { valueAt } from '../query/query-values.ts'

/** Bodies whose refs are followed. */
const BODIES: ReadonlySet<string> = new Set(['attributes', 'inputs', 'output'])

/** Columns as a tree of their segments. */
export interface Expansion {
  isExpanded: boolean
  readonly inner: Map<string, Expansion>
}

/**
 * Returns the paths of `expand_columns`, each after its prefixes.
 *
 * Spec: §2.7 (lists are an addition). Choice: a column says where a ref lies; refs inside what it leads to are
 * columns of their own. A body that is no ref itself, as `inputs`, stands for each of its members.
 *
 * @throws ApiError query_invalid for another field than attributes, inputs and output
 */
export function parseExpandColumns(
  columns: readonly string[] | null | undefined,
): readonly (readonly string[])[] {
  const paths = (columns ?? []).map((column, at) =>
    parsePath(column, BODIES, `expand_columns[${at}]`),
  )
  return paths.toSorted((left, right) => left.length - right.length)
}

/** @returns null when nothing is expanded */
export function toExpansion(paths: readonly (readonly string[])[]): Expansion | null {
  if (paths.length === 0) return null
  const root: Expansion = { isExpanded: false, inner: new Map() }
  for (const path of paths) {
    let at = root
    for (const key of path) {
      const next: Expansion = at.inner.get(key) ?? { isExpanded: false, inner: new Map() }
      at.inner.set(key, next)
      at = next
    }
    at.isExpanded = true
  }
  return root
}

/**
 * Returns the path in a body of the ref that leads to a field, or is it: the first expanded column on the path.
 * Null when there is none and the body alone determines the field.
 *
 * @param path - into the body
 * @param mayBeRef - whether the body itself can be a ref
 */
export function refPathOf(
  path: readonly string[],
  expansion: Expansion,
  mayBeRef: boolean,
): readonly string[] | null {
  let at: Expansion | undefined = expansion
  for (let depth = 0; depth <= path.length; depth++) {
    const isMember = depth === 1 && expansion.isExpanded
    const isRef = at?.isExpanded && (depth > 0 || mayBeRef)
    if (isMember || isRef) return path.slice(0, depth)
    at = at?.inner.get(path[depth] as string)
  }
  return null
}

/** The value at a path into a body. The ref of a column is followed only on the way to what lies behind it. */
export function valueBehindRefs(
  body: unknown,
  path: readonly string[],
  expansion: Expansion,
  readRef: (ref: string) => unknown,
): unknown {
  let value = body
  let at: Expansion | undefined = expansion
  let isMember = false
  for (const key of path) {
    if ((isMember || at?.isExpanded) && typeof value === 'string') value = readRef(value)
    isMember = at === expansion && expansion.isExpanded && typeof body === 'object'
    value = valueAt(value, [key])
    at = at?.inner.get(key)
  }
  return value
}
