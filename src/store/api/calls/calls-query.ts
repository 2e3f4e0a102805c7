/** The contract of lists of calls. */
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import type { CallsSelection, CallsShape } from '../../../domain/calls/calls-query.ts'
import type { ReadCaller } from '../read-caller.ts'

/** A call with what was asked for beside it. */
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
   * The calls of a selection, in pages. Calls that came after the list began are not in it. The contents of the
   * others, and whether they meet the condition, are read as the list goes on, so calls that were deleted
   * meanwhile are left out. Each call comes once. Memory does not grow with the list, except for up to 500,000
   * keys of one that has to be sorted.
   *
   * @param shape - bodies that it does not want are null in the calls
   * @param caller - who waits
   * @throws ApiError validation_failed (param `limit`) when too many calls have to be sorted;
   * server_overloaded, read_timeout, client_closed_request (or the signal's reason), store_unavailable
   */
  pages(
    selection: CallsSelection,
    shape: CallsShape,
    caller: ReadCaller,
  ): AsyncIterable<readonly ListedCall[]>
  /** How many calls a selection holds, and the bytes of their bodies. Throws as `pages` does. */
  count(selection: CallsSelection, caller: ReadCaller): Promise<CallsCount>
}
