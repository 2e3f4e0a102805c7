/** The contract of lists of threads. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { ThreadListing, ThreadSums } from '../../../domain/threads/thread-sums.ts'

export interface ThreadStore {
  /**
   * The threads of a project that have a turn: a call whose id is its turn_id. Deleted calls and ends without a start
   * are out.
   *
   * @param caller - who waits
   * @throws ApiError validation_failed (param `filter`) when more than 50,000 threads are asked for and more than
   * 100,000 meet the filter; server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  listThreads(listing: ThreadListing, caller: ReadCaller): Promise<ThreadSums[]>
}
