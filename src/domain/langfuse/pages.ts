/** Pages of lists in Langfuse's API. Pure. */
import { ApiError } from '../../errors.ts'

interface Page {
  /** From 1. */
  readonly page: number
  readonly limit: number
}

export function renderPage<Item>(data: readonly Item[], totalItems: number, { page, limit }: Page) {
  return { data, meta: { page, limit, totalItems, totalPages: Math.ceil(totalItems / limit) } }
}

/** The part of a whole list that is one page. */
export function cutPage<Item>(items: readonly Item[], page: Page) {
  const from = (page.page - 1) * page.limit
  return renderPage(items.slice(from, from + page.limit), items.length, page)
}

/** Where a list goes on: after how many of the items that were there when its first page was read. */
interface Cursor {
  /** In microseconds. */
  readonly before_us: number
  readonly offset: number
}

export function renderCursor({ before_us, offset }: Cursor): string {
  return Buffer.from(`${before_us}.${offset}`).toString('base64url')
}

/** @throws ApiError validation_failed for a text that renderCursor did not make */
export function parseCursor(cursor: string | undefined, nowUs: number): Cursor {
  if (cursor === undefined) return { before_us: nowUs, offset: 0 }
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, before, offset] = /^(\d{1,16})\.(\d{1,6})$/.exec(text) ?? []
  if (before === undefined || offset === undefined) {
    const message = 'cursor must be the meta.cursor of the page before.'
    throw new ApiError('validation_failed', { param: 'cursor', message })
  }
  return { before_us: Number(before), offset: Number(offset) }
}
