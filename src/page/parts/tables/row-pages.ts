/** Rows of a long list by index, fetched page by page as they scroll into view. */

/** Limit: cached pages; the least recently viewed is removed first. */
const PAGES_MAX = 60
const PAGE_ROWS = 100

export interface RowPages<Row> {
  /** Returns the row at an index; undefined while it is loading. */
  at(index: number): Row | undefined
  /** Fetches the pages of these indexes. */
  show(first: number, last: number): void
  close(): void
}

/** Fetches some rows, starting at an index. */
type ReadRows<Row> = (
  page: { readonly offset: number; readonly limit: number },
  signal: AbortSignal,
) => Promise<readonly Row[]>

/** @param onChange - called when more rows are there; `onFailure` with what went wrong */
export function openRowPages<Row>(
  readRows: ReadRows<Row>,
  onChange: () => void,
  onFailure: (error: unknown) => void,
): RowPages<Row> {
  const pages = new Map<number, readonly Row[]>()
  const abort = new AbortController()

  async function read(page: number): Promise<void> {
    pages.set(page, [])
    try {
      const place = { offset: page * PAGE_ROWS, limit: PAGE_ROWS }
      const rows = await readRows(place, abort.signal)
      // Otherwise the page was evicted in the meantime.
      if (pages.has(page)) pages.set(page, rows)
      onChange()
    } catch (error) {
      pages.delete(page)
      if (!abort.signal.aborted) onFailure(error)
    }
  }

  function forgetOldest(): void {
    for (const page of pages.keys()) {
      if (pages.size <= PAGES_MAX) return
      pages.delete(page)
    }
  }

  return {
    at: (index) => pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS],
    show(first, last) {
      for (let page = Math.floor(first / PAGE_ROWS); page * PAGE_ROWS < last; page++) {
        const kept = pages.get(page)
        pages.delete(page)
        if (kept === undefined) void read(page)
        else pages.set(page, kept)
      }
      forgetOldest()
    },
    close: () => abort.abort(),
  }
}
