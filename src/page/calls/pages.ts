/** Calls of a list by index, fetched page by page as they scroll into view. */
import { requestLines } from '../api/client.ts'
import type { Call, CallsQueryBody } from '../api/wire.ts'
import { type Column, cellOf, requestedColumns } from './columns.ts'

const PAGE_CALLS = 100
/** Limit: cached pages; the least recently viewed is removed first. */
const PAGES_MAX = 200
/** Limit: pages fetched at once; fast scrolling passes hundreds. */
const READS_MAX = 3
/** Limit: calls selected as one range. */
const RANGE_MAX = 10_000

/** The fields of a call that the table retains. */
export interface ShownCall {
  readonly id: string
  readonly opName: string
  /** In the order of the columns. */
  readonly cells: readonly (string | number | null)[]
}

export interface CallPages {
  /** Returns the call at an index; undefined while it is loading. */
  at(index: number): ShownCall | undefined
  /** Returns the index of a call among the fetched ones, or -1. */
  indexOf(id: string): number
  /** Number of calls known to exist. */
  known(): number
  /** Returns the ids of the calls at these indexes. @throws Error for too many, ApiFailure */
  readIds(first: number, last: number): Promise<readonly string[]>
  /** Fetches the pages of these indexes, before all pages requested earlier. */
  show(first: number, last: number): void
  close(): void
}

interface CallPagesOptions {
  readonly question: CallsQueryBody
  readonly columns: readonly Column[]
  readonly sort: NonNullable<CallsQueryBody['sort_by']>
  /** Called when more calls have arrived. */
  readonly onChange: () => void
  /** Called with an error, and with null when the fetch is retried. */
  readonly onFailure: (error: unknown) => void
}

export function openCallPages(options: CallPagesOptions): CallPages {
  const { onChange, onFailure } = options
  const pages = new Map<number, readonly ShownCall[]>()
  const reading = new Map<number, AbortController>()
  /** Failed pages are retried only on the next scroll: otherwise a rejected request would repeat forever. */
  const failed = new Set<number>()
  let wanted: readonly number[] = []
  let isClosed = false

  async function read(page: number): Promise<void> {
    const abort = new AbortController()
    reading.set(page, abort)
    try {
      pages.set(page, await readPage(options, page, abort.signal))
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

  function callAt(index: number): ShownCall | undefined {
    return pages.get(Math.floor(index / PAGE_CALLS))?.[index % PAGE_CALLS]
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
    at: callAt,
    indexOf(id) {
      for (const [page, calls] of pages) {
        const at = calls.findIndex((call) => call.id === id)
        if (at >= 0) return page * PAGE_CALLS + at
      }
      return -1
    },
    readIds: (first, last) => readIds(options, callAt, first, last),
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

async function readPage(
  { question, columns, sort }: CallPagesOptions,
  page: number,
  signal: AbortSignal,
): Promise<ShownCall[]> {
  const body = {
    ...question,
    ...requestedColumns(columns),
    sort_by: sort,
    offset: page * PAGE_CALLS,
    limit: PAGE_CALLS,
  }
  const calls: ShownCall[] = []
  for await (const call of requestLines<Call>('/calls/stream_query', body, { signal })) {
    const cells = columns.map((column) => cellOf(column, call))
    calls.push({ id: call.id, opName: call.op_name, cells })
  }
  return calls
}

async function readIds(
  { question, sort }: CallPagesOptions,
  callAt: CallPages['at'],
  first: number,
  last: number,
): Promise<readonly string[]> {
  if (last - first > RANGE_MAX)
    throw new Error(
      `A range has at most ${RANGE_MAX} calls; all calls of a search can be selected.`,
    )
  const cached = Array.from({ length: last - first }, (_, at) => callAt(first + at)?.id)
  if (cached.every((id) => id !== undefined)) return cached
  const range = { offset: first, limit: last - first, sort_by: sort, columns: ['id'] }
  const calls = requestLines<Call>('/calls/stream_query', { ...question, ...range })
  return (await Array.fromAsync(calls)).map(({ id }) => id)
}
