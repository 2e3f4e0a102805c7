/** Filters and sorts threads, and buffers no more of them than a page needs. Pure. */
import { ApiError } from '../../errors.ts'
import { createThreadSums, type ThreadListing, type ThreadSums, type Turn } from './thread-sums.ts'

/** Limit: threads that are held to be sorted, at some 250 bytes each. */
const THREADS_MAX = 100_000
/** Limit: number of threads below which no sort is worth its time. */
const CUT_MIN = 1000

export interface ThreadList {
  /**
   * Adds a turn; the turns of a thread must be consecutive.
   *
   * @param turn - null for a call of the thread that is not a turn
   * @throws ApiError validation_failed for too many threads; so do the others
   */
  add(thread_id: string, turn: Turn | null): void
  /**
   * Returns the number of matching threads so far that were updated after a time, microseconds. Threads must arrive
   * in that order.
   */
  countUpdatedAfter(us: number): number
  /** Returns the page, after all turns. */
  page(): ThreadSums[]
}

export function createThreadList(listing: ThreadListing): ThreadList {
  const wanted = listing.offset + listing.limit
  let threads: ThreadSums[] = []
  let current = createThreadSums('')

  function endThread(): void {
    const thread = current.sums()
    current = createThreadSums('')
    if (thread === null || !isWanted(thread, listing)) return
    // Not for each thread: a sort of twice as many as are wanted makes room for as many again.
    if (threads.length >= Math.max(2 * wanted, CUT_MIN)) {
      threads = sort(threads, listing).slice(0, wanted)
    }
    if (threads.length === THREADS_MAX) throw tooMany()
    threads.push(thread)
  }
  return {
    add(thread_id, turn) {
      if (current.thread_id !== thread_id) {
        endThread()
        current = createThreadSums(thread_id)
      }
      if (turn) current.add(turn)
    },
    countUpdatedAfter(us) {
      endThread()
      const at = threads.findLastIndex(({ last_updated }) => last_updated > us)
      return at + 1
    },
    page() {
      endThread()
      return sort(threads, listing).slice(listing.offset, wanted)
    },
  }
}

function tooMany(): ApiError {
  const most = THREADS_MAX / 2
  const message = `More than ${THREADS_MAX} threads meet the filter: narrow it, or ask for the first ${most} at most.`
  return new ApiError('validation_failed', { message, param: 'filter' })
}

function isWanted(thread: ThreadSums, { after_us, before_us }: ThreadListing): boolean {
  return thread.start_time > after_us && thread.last_updated < before_us
}

/** Returns threads in the order of a listing; equals in order of thread_id. */
function sort(threads: readonly ThreadSums[], { sort_by }: ThreadListing): ThreadSums[] {
  const terms = [...sort_by, { field: 'thread_id', direction: 'asc' } as const]
  return threads.toSorted((left, right) => {
    for (const { field, direction } of terms) {
      const order = compare(left[field], right[field], direction)
      if (order !== 0) return order
    }
    return 0
  })
}

type Sortable = string | number | null

function compare(left: Sortable, right: Sortable, direction: 'asc' | 'desc'): number {
  if (left === right) return 0
  if (left === null) return 1
  if (right === null) return -1
  return left < right === (direction === 'asc') ? -1 : 1
}
