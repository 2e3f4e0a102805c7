/** Calls of a list by their place in it, read page by page as they come into sight. */
import { askLines } from '../api/client.ts'
import type { Call, CallsQuestion } from '../api/wire.ts'
import { askedFor, type Column, cellOf } from './columns.ts'

const PAGE_CALLS = 100
/** Limit: pages that are kept; the one looked at longest ago goes first. */
const PAGES_MAX = 200
/** Limit: pages that are read at once; fast scrolling passes hundreds. */
const READS_MAX = 3

/** What the table keeps of a call. */
export interface ShownCall {
  readonly id: string
  readonly opName: string
  /** In the order of the columns. */
  readonly cells: readonly (string | number | null)[]
}

export interface CallPages {
  /** The call at a place; undefined while it is not there yet. */
  at(index: number): ShownCall | undefined
  /** Calls that are known to be there. */
  known(): number
  /** Has the pages of these places read, before all others that were asked for. */
  show(first: number, last: number): void
  close(): void
}

interface CallPagesOptions {
  readonly question: CallsQuestion
  readonly columns: readonly Column[]
  /** Called when more calls are there. */
  readonly onChange: () => void
  /** Called with what went wrong, and with null when it is tried again. */
  readonly onFailure: (error: unknown) => void
}

export function openCallPages(options: CallPagesOptions): CallPages {
  const { question, columns, onChange, onFailure } = options
  const pages = new Map<number, readonly ShownCall[]>()
  const reading = new Map<number, AbortController>()
  /** Read again when somebody scrolls, and not before: what is refused would be asked for without an end. */
  const failed = new Set<number>()
  let wanted: readonly number[] = []
  let isClosed = false

  async function read(page: number): Promise<void> {
    const abort = new AbortController()
    reading.set(page, abort)
    try {
      pages.set(page, await readPage(page, abort.signal))
      onChange()
    } catch (error) {
      if (!abort.signal.aborted) {
        failed.add(page)
        onFailure(error)
      }
    }
    reading.delete(page)
    if (!isClosed) readNext()
  }

  async function readPage(page: number, signal: AbortSignal): Promise<ShownCall[]> {
    const body = {
      ...question,
      ...askedFor(columns),
      sort_by: [{ field: 'started_at', direction: 'desc' }],
      offset: page * PAGE_CALLS,
      limit: PAGE_CALLS,
    }
    const calls: ShownCall[] = []
    for await (const call of askLines<Call>('/calls/stream_query', body, { signal })) {
      const cells = columns.map((column) => cellOf(column.read(call)))
      calls.push({ id: call.id, opName: call.op_name, cells })
    }
    return calls
  }

  function readNext(): void {
    for (const page of wanted) {
      if (reading.size >= READS_MAX) return
      if (!pages.has(page) && !reading.has(page) && !failed.has(page)) void read(page)
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
    known: () => pages.get(0)?.length ?? 0,
    show(first, last) {
      const [from, to] = [
        Math.floor(first / PAGE_CALLS),
        Math.floor(Math.max(last - 1, 0) / PAGE_CALLS),
      ]
      if (failed.size > 0) onFailure(null)
      failed.clear()
      wanted = Array.from({ length: to - from + 1 }, (_, at) => from + at)
      for (const [page, abort] of reading) if (!wanted.includes(page)) abort.abort()
      for (const page of wanted) {
        const kept = pages.get(page)
        if (kept === undefined) continue
        pages.delete(page)
        pages.set(page, kept)
      }
      readNext()
      forgetOldest()
    },
    close() {
      isClosed = true
      for (const abort of reading.values()) abort.abort()
    },
  }
}
