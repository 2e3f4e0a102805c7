/** Cursor pages over rows. Pure: it only slices rows that a store has returned. */
import { type ListOrder, PAGE_LIMIT_DEFAULT } from '../../schemas/query/page-query.ts'

/** The beginning and the length of a page. */
interface PageRange {
  /** Id of the item that the page follows, or null for the beginning. */
  readonly after: string | null
  /** Items of the page. */
  readonly limit: number
  readonly order: ListOrder
}

/**
 * Resolves a checked query.
 *
 * Spec: §4.9 after, limit, order. Choice: an empty cursor is the beginning, because that is what the
 * last_id of an empty page says.
 */
export function resolvePageQuery(query: {
  readonly after?: string | undefined
  readonly limit?: string | undefined
  readonly order?: ListOrder | undefined
}): PageRange {
  return {
    after: query.after ? query.after.toLowerCase() : null,
    limit: query.limit === undefined ? PAGE_LIMIT_DEFAULT : Number(query.limit),
    order: query.order ?? 'asc',
  }
}

/** One page of a list. */
interface Page<T> {
  readonly object: 'list'
  readonly data: T[]
  /** Whether rows follow the page; never true for an empty page. */
  readonly has_more: boolean
  /** Id of the first row; '' when the page is empty. */
  readonly first_id: string
  /** Id of the last row, which is the cursor of the next page; '' when the page is empty. */
  readonly last_id: string
}

/** Returns the number of rows to request from a store, so that toPage can see whether more follow. */
export function rowsToRead(limit: number): number {
  return limit + 1
}

/**
 * Cuts a page.
 *
 * @param rows - the rows after the cursor in the list's order, at most rowsToRead(limit)
 * @param limit - rows of a page, >= 1
 *
 * Spec: §4.9 data, has_more, first_id, last_id.
 */
export function toPage<T extends { readonly id: string }>(
  rows: readonly T[],
  limit: number,
): Page<T> {
  const data = rows.slice(0, limit)
  return {
    object: 'list',
    data,
    has_more: rows.length > limit,
    first_id: data[0]?.id ?? '',
    last_id: data.at(-1)?.id ?? '',
  }
}
