/** Queries over rows with named fields: validated to plain data, then evaluated row by row. Pure. */
import { COUNT_FIELD, ROWS_MAX } from '../../schemas/limits.ts'
import type { RowQueryRequest } from '../../schemas/query/row-query.ts'
import { type Expression, isField, parsePath, parseQuery } from './query-expression.ts'
import { createMatcher } from './query-matcher.ts'
import { eachOf, orderForSort } from './query-values.ts'

/** A checked query. */
export interface RowQuery {
  readonly expression: Expression | null
  readonly sort: readonly { readonly path: readonly string[]; readonly direction: 'asc' | 'desc' }[]
  /** Fields of a row, under the requested names. */
  readonly fields: readonly { readonly name: string; readonly path: readonly string[] }[]
  /** Whether only the number of rows is requested. */
  readonly isCount: boolean
  readonly offset: number
  readonly limit: number
}

/**
 * Resolves a request over rows that have these fields.
 *
 * @throws ApiError query_invalid; param is the place
 */
export function resolveRowQuery(
  request: Omit<RowQueryRequest, 'project_id'>,
  known: readonly string[],
): RowQuery {
  const fields = new Set(known)
  const names = request.fields ?? []
  const isCount = names.length === 1 && names[0] === COUNT_FIELD
  const wanted = names.length === 0 ? known : names
  return {
    expression: request.query ? parseQuery(request.query, { fields }) : null,
    sort: resolveSort(request.sort_by, fields),
    fields: isCount
      ? []
      : wanted.map((name, index) => ({ name, path: parsePath(name, fields, `fields[${index}]`) })),
    isCount,
    offset: request.offset ?? 0,
    limit: request.limit ?? ROWS_MAX,
  }
}

/** The terms of a sort. @throws ApiError query_invalid; param is the place */
export function resolveSort(
  sort_by: RowQueryRequest['sort_by'],
  fields: ReadonlySet<string>,
): RowQuery['sort'] {
  return (sort_by ?? []).map(({ field, direction }, index) => ({
    path: parsePath(field, fields, `sort_by[${index}].field`),
    direction,
  }))
}

/** The value of a field of a row; undefined when there is none. */
type FieldOf<Row> = (row: Row, path: readonly string[]) => unknown

interface Kept<Row> {
  readonly row: Row
  /** Position in the order of arrival, which decides between equals. */
  readonly index: number
  /** Values of the sort terms that were compared so far. */
  readonly keys: unknown[]
}

/**
 * Collects rows one after the other and keeps those that the page may need: never more than twice the rows up to
 * its end.
 *
 * @param isPresorted - whether rows come in the order of the first sort already
 */
export function createRowSelection<Row>(
  query: RowQuery,
  fieldOf: FieldOf<Row>,
  isPresorted = false,
) {
  const { expression, sort, offset, limit } = query
  const end = offset + limit
  const meets = expression && createMatcher(expression)
  let kept: Kept<Row>[] = []
  /** The last one of a whole page; what comes behind it is not kept. */
  let last: Kept<Row> | undefined
  /**
   * The last row of the page by the first sort alone: rows that arrive in its order are too late when they differ
   * there.
   */
  let edge: Kept<Row> | undefined
  let count = 0

  function keyAt({ row, keys }: Kept<Row>, at: number): unknown {
    for (let next = keys.length; next <= at; next++) {
      keys.push(eachOf(fieldOf(row, sort[next]?.path ?? [])).at(-1))
    }
    return keys[at]
  }

  function compareAt(left: Kept<Row>, right: Kept<Row>, at: number): number {
    return orderForSort(keyAt(left, at), keyAt(right, at), sort[at]?.direction ?? 'asc')
  }

  function compare(left: Kept<Row>, right: Kept<Row>): number {
    for (let at = 0; at < sort.length; at++) {
      const sign = compareAt(left, right, at)
      if (sign !== 0) return sign
    }
    return left.index - right.index
  }

  /** The row can be released afterwards: all of its keys have been read. */
  function keep(one: Kept<Row>): void {
    if (last !== undefined && compare(one, last) > 0) return
    keyAt(one, sort.length - 1)
    kept.push(one)
    if (kept.length <= 2 * end) return
    kept = kept.sort(compare).slice(0, end)
    last = kept.at(-1)
  }

  return {
    /** Adds a row; returns false when no later row can change the page. */
    add(row: Row): boolean {
      if (meets && !meets((path) => fieldOf(row, path))) return true
      const index = count
      count += 1
      if (query.isCount) return true
      if (sort.length === 0) {
        if (index >= offset && index < end) kept.push({ row, index, keys: [] })
        return count < end
      }
      const one = { row, index, keys: [] }
      if (isPresorted && edge && compareAt(one, edge, 0) > 0) return false
      keep(one)
      if (count === end) edge = one
      return true
    },
    /** Rows that met the condition. */
    count: () => count,
    /** The page. */
    rows(): Row[] {
      const page = sort.length === 0 ? kept : kept.sort(compare).slice(offset, end)
      return page.map(({ row }) => row)
    },
  }
}

/** Picks the keys of a page. What was seen of a row is released as soon as the row has been compared. */
export function createKeyPicker<Key, Seen>(
  page: Pick<RowQuery, 'sort' | 'offset' | 'limit'>,
  fieldOf: FieldOf<Seen>,
) {
  const query: RowQuery = { ...page, expression: null, fields: [], isCount: false }
  const picked = createRowSelection<{ readonly key: Key; seen: Seen | null }>(
    query,
    ({ seen }, path) => (seen === null ? undefined : fieldOf(seen, path)),
  )
  return {
    /** @param seen - null where nothing is sorted. @returns false when no later row can change the page */
    add(key: Key, seen: Seen | null): boolean {
      const row = { key, seen }
      const isWanted = picked.add(row)
      row.seen = null
      return isWanted
    },
    keys: (): Key[] => picked.rows().map(({ key }) => key),
    /** Rows that were added. */
    count: picked.count,
  }
}

/**
 * Returns the values to which an expression restricts a field that always holds a string; null when it may have
 * any. A store can then read fewer rows, and still has to evaluate the expression.
 */
export function requiredTexts(expression: Expression | null, field: string): string[] | null {
  if (expression === null) return null
  const isOurs = (side: Expression) => isField(side, field)
  switch (expression.op) {
    case '$and':
      for (const item of expression.items) {
        const texts = requiredTexts(item, field)
        if (texts) return texts
      }
      return null
    case '$or': {
      const each = expression.items.map((item) => requiredTexts(item, field))
      return each.every((texts) => texts !== null) ? [...new Set(each.flat())] : null
    }
    case '$eq': {
      const other = isOurs(expression.left) ? expression.right : expression.left
      return isOurs(expression.left) || isOurs(expression.right) ? textsOf([other]) : null
    }
    case '$in':
      return isOurs(expression.left) ? textsOf(expression.items) : null
    default:
      return null
  }
}

/** The literals among them that are strings; null when one is no literal. */
function textsOf(items: readonly Expression[]): string[] | null {
  const texts: string[] = []
  for (const item of items) {
    if (item.op !== '$literal') return null
    if (typeof item.value === 'string') texts.push(item.value)
  }
  return [...new Set(texts)]
}
