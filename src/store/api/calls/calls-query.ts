/** The contract of lists of calls. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import type { CallsSelection, CallsShape } from '../../../domain/calls/calls-query.ts'

/** A call with the additional data that was requested. */
export interface ListedCall {
  readonly call: CallTexts
  /** Over the trace; null unless asked for. */
  readonly totalStorageSizeBytes: number | null
}

export interface CallsCount {
  readonly count: number
  readonly storage_size_bytes: number
}

export interface CallsQueryStore {
  /**
   * Yields the calls of a selection in pages, each call once. Calls stored after the list began are not included. The
   * others are read and filtered as the list proceeds, so calls deleted meanwhile are left out. Memory does not grow
   * with the list, except for up to 500,000 keys when it has to be sorted.
   *
   * @param shape - bodies it does not request are null in the calls
   * @param caller - who waits
   * @throws ApiError validation_failed (param `limit`) when too many calls have to be sorted;
   * server_overloaded, read_timeout, client_closed_request (or the signal's reason), store_unavailable
   */
  pages(
    selection: CallsSelection,
    shape: CallsShape,
    caller: ReadCaller,
  ): AsyncIterable<readonly ListedCall[]>
  /**
   * How many calls a selection holds, and the bytes of their bodies: of the first ones by start and id where it holds more
   * than its limit. Throws as `pages` does.
   */
  count(selection: CallsSelection, caller: ReadCaller): Promise<CallsCount>
}
