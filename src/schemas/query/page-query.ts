/**
 * Query strings and responses of pages. Values in query strings are strings; domain/query/page.ts reads cursors.
 * Spec: §4.9, §8.
 */
import { z } from 'zod'

export const PAGE_LIMIT_DEFAULT = 20
const PAGE_LIMIT_MAX = 100
const LIST_ORDERS = ['asc', 'desc'] as const
export type ListOrder = (typeof LIST_ORDERS)[number]

/** A whole number in a query string, where every value is a string. */
const WHOLE = /^(?:0|[1-9]\d{0,9})$/

function wholeText(min: number, max: number, fallback = {}) {
  return z
    .string('must be given once')
    .refine(
      (text) => WHOLE.test(text) && Number(text) >= min && Number(text) <= max,
      `must be a whole number from ${min} to ${max}`,
    )
    .meta({ type: 'integer', minimum: min, maximum: max, ...fallback })
}

/**
 * Cursor and size of a page. Spec: §4.9 after, limit; §8 checkpoints limit.
 * Choice: out of range is refused, not clamped.
 */
export const PageQuery = z.strictObject({
  after: z
    .string('must be given once')
    .max(128)
    .optional()
    .describe('Cursor: id of the last item of the previous page. Empty: the first page.'),
  limit: wholeText(1, PAGE_LIMIT_MAX, { default: PAGE_LIMIT_DEFAULT })
    .optional()
    .describe(`Items per page, 1 to ${PAGE_LIMIT_MAX}. Default ${PAGE_LIMIT_DEFAULT}.`),
})

const OFFSET_MAX = 1_000_000_000

/** Returns the query fields of a page by limit and offset. @param limitMax - also the default */
export function countedPage(limitMax: number) {
  return {
    limit: wholeText(0, limitMax)
      .transform(Number)
      .optional()
      .describe(`Maximum number of entries. Default ${limitMax}.`),
    offset: wholeText(0, OFFSET_MAX)
      .transform(Number)
      .optional()
      .describe('Number of entries to skip. Default 0.'),
  }
}

/** Returns the body fields of a page by limit and offset. @param rows - the noun of the rows, in the plural */
export function pageFields(rows: string, limitMax: number, offsetMax = OFFSET_MAX) {
  return {
    limit: z
      .int()
      .min(0)
      .max(limitMax)
      .nullish()
      .describe(`Maximum number of ${rows}. Default ${limitMax}.`),
    offset: z
      .int()
      .min(0)
      .max(offsetMax)
      .nullish()
      .describe(`Number of ${rows} to skip. Default 0.`),
  }
}

/** Returns the query field for the direction of a list. @param by - the field that orders the list */
export function orderField(by: string, fallback: ListOrder = 'asc') {
  return z
    .enum(LIST_ORDERS, 'must be asc or desc')
    .optional()
    .describe(`Order by ${by}. Default ${fallback}.`)
    .meta({ default: fallback })
}

/** Returns the schema of a page of items. Spec: §4.9. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item).describe('The page, in the requested order.'),
    has_more: z.boolean().describe('Whether more items follow the page.'),
    object: z.literal('list').describe('Always `list`.'),
    first_id: z.string().describe('Id of the first item of the page; empty without items.'),
    last_id: z.string().describe('Id of the last item of the page; empty without items.'),
  })
}
