/** Calls of a list by their place in it, read page by page as they come into sight. */
import { askLines } from '../api/client.ts'
import type { Call, CallsQuestion } from '../api/wire.ts'

const PAGE_CALLS = 100
/** Limit: pages that are kept; the one looked at longest ago goes first. */
const PAGES_MAX = 60

export interface CallPages {
  /** The call at a place; undefined while it is not there yet. */
  at(index: number): Call | undefined
  /** Has the pages of these places read. */
  show(first: number, last: number): void
  close(): void
}

/** @param onChange - called when more calls are there; `onFailure` with what went wrong */
export function openCallPages(
  question: CallsQuestion,
  onChange: () => void,
  onFailure: (error: unknown) => void,
): CallPages {
  const pages = new Map<number, Call[]>()
  const abort = new AbortController()

  async function read(page: number): Promise<void> {
    const calls: Call[] = []
    pages.set(page, calls)
    const body = {
      ...question,
      sort_by: [{ field: 'started_at', direction: 'desc' }],
      include_costs: true,
      offset: page * PAGE_CALLS,
      limit: PAGE_CALLS,
    }
    try {
      for await (const call of askLines<Call>('/calls/stream_query', body, {
        signal: abort.signal,
      })) {
        calls.push(call)
      }
      onChange()
    } catch (error) {
      pages.delete(page)
      onFailure(error)
    }
  }

  function forgetOldest(): void {
    for (const page of pages.keys()) {
      if (pages.size <= PAGES_MAX) return
      pages.delete(page)
    }
  }

  return {
    at: (index) => pages.get(Math.floor(index / PAGE_CALLS))?.[index % PAGE_CALLS],
    show(first, last) {
      for (let page = Math.floor(first / PAGE_CALLS); page * PAGE_CALLS < last; page++) {
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
