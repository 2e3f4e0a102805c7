/** The contract of lists of calls. */
import type { CallTexts } from '../../domain/calls/call-view.ts'
import type { CallsSelection, CallsShape } from '../../domain/calls/calls-query.ts'

/** A call with what was asked for beside it. */
export interface ListedCall {
  readonly call: CallTexts
  /** Over the trace; null unless asked for. */
  readonly totalStorageSizeBytes: number | null
  /** JSON texts of feedback about the call, the oldest first; null unless asked for. */
  readonly feedback: readonly string[] | null
}

export interface CallsCount {
  readonly count: number
  readonly storage_size_bytes: number
}

export interface CallsQueryStore {
  /**
   * The calls of a selection, in pages. Which calls and their order are those of one moment after the call
   * began; what they hold is read page by page, and calls that were deleted since are left out. Only the
   * keys of the calls are held in memory.
   *
   * @param shape - bodies that it does not want are null in the calls
   * @param refScheme - scheme of the refs under which feedback is looked for
   * @param signal - aborted when nobody waits any more
   * @throws ApiError validation_failed (param `limit`) when too many calls match; server_overloaded,
   * read_timeout, client_closed_request (or the signal's reason), store_unavailable
   */
  pages(
    selection: CallsSelection,
    shape: CallsShape,
    refScheme: string,
    signal: AbortSignal,
  ): AsyncIterable<readonly ListedCall[]>
  /** How many calls a selection holds, and the bytes of their bodies. Throws as `pages` does. */
  count(selection: CallsSelection, signal: AbortSignal): Promise<CallsCount>
}
