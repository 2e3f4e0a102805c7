/** The contracts of the store of calls, of their lists and of their removal from disk. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { SpanLog } from '../../../domain/calls/call-logs.ts'
import type { PartResult, StartedIds } from '../../../domain/calls/call-state.ts'
import type { CallTexts, PreviewedBody, StoredCall } from '../../../domain/calls/call-view.ts'
import type { CallsSelection, CallsShape } from '../../../domain/calls/calls-query.ts'
import type { CallEnd, CallParts, CallStart } from '../../../domain/calls/new-call.ts'
import type { PackedCalls, PackedOutcome } from '../../../domain/calls/packed-calls.ts'

export interface CallRename {
  readonly project_id: string
  readonly id: string
  /** null removes the name. */
  readonly display_name: string | null
}

export interface CallDeletion {
  readonly project_id: string
  readonly ids: readonly string[]
  readonly deleted_at_us: number
}

/** Records of logs that arrived together. */
export interface CallLogs {
  readonly logs: readonly SpanLog[]
  readonly received_at_us: number
  /** Scheme of the refs that are looked for in the records. */
  readonly ref_scheme: string
}

export interface CallStore {
  /**
   * Stores the start of a call. Resolves only after it is durable. The end may have been stored before. Repeating
   * the same start changes nothing and returns the same.
   *
   * @returns the stored id and trace_id; on a repeat those of the first start
   * @throws ApiError call_conflict when the id holds another start; server_overloaded, store_unavailable
   */
  startCall(start: CallStart): Promise<StartedIds>
  /**
   * Stores the end of a call. Resolves only after it is durable. The start may come later; until then the call
   * cannot be read. Repeating the same end changes nothing.
   *
   * @throws ApiError call_conflict when the id holds another end; server_overloaded, store_unavailable
   */
  endCall(end: CallEnd): Promise<void>
  /**
   * Stores many parts in one commit, in order, with the same results as one by one. A refused part does not affect
   * the others. Resolves only after all are durable.
   *
   * @returns a result for each part, in order
   * @throws ApiError server_overloaded, store_unavailable: then nothing is stored
   */
  writeParts(parts: readonly CallParts[]): Promise<readonly PartResult[]>
  /**
   * The same with packed parts, as another thread may have prepared them.
   *
   * @param projects - all that the parts belong to
   * @throws as writeParts does
   */
  writePacked(packed: PackedCalls<CallParts>, projects: readonly string[]): Promise<PackedOutcome>
  /**
   * Joins records of logs to the calls of their spans, stored or to come, whose inputs and output are read again with
   * them. A record that is sent again changes nothing. Those of spans that do not come within an hour are dropped.
   * Resolves only after the commit is durable.
   *
   * @returns how many were not stored, because too many records wait or a span has too many
   * @throws ApiError server_overloaded, store_unavailable
   */
  writeLogs(logs: CallLogs): Promise<number>
  /**
   * Names a call. A start that is stored later keeps this name.
   *
   * @throws ApiError call_not_found when the call was deleted; server_overloaded, store_unavailable
   */
  renameCall(rename: CallRename): Promise<void>
  /**
   * Deletes calls and all their descendants by parent_id, in one commit. A deleted call stays deleted when parts
   * of it arrive later; descendants that arrive later are not deleted.
   *
   * @returns the ids that were deleted by this request; unknown ids and deleted calls are not among them
   */
  deleteCalls(deletion: CallDeletion): Promise<readonly string[]>
  /** The call, or null when the id is unknown in the project, deleted, or has no start yet. */
  findCall(projectId: string, id: string): Promise<StoredCall | null>
  /** storage_size_bytes summed over the live calls of a trace; 0 when there are none. */
  sumTraceSizeBytes(projectId: string, traceId: string): Promise<number>
}

export interface CallExpiry {
  readonly project_id: string
  /** A full hour in UTC; calls that start at it or later are kept. */
  readonly before_us: number
}

/** The result of a step of an expiry. */
export interface ExpiryStep {
  /** How many calls were removed, including ends without a start. */
  readonly calls: number
  /** Whether nothing is left to do. */
  readonly isDone: boolean
}

/**
 * Both methods work in bounded, atomic steps with longer pauses in between, in which other writes run. After a crash
 * the next round continues from the last step. An abort takes effect after the current step.
 */
export interface CallRemoval {
  /**
   * Removes the content of deleted calls: bodies, usage, refs. Their ids stay deleted; parts that arrive later are
   * acknowledged and dropped. Then returns free space to the file system.
   *
   * @returns how many calls were freed
   * @throws ApiError server_overloaded, store_unavailable, server_draining: calls freed before stay freed
   */
  removeDeleted(signal: AbortSignal): Promise<number>
  /**
   * Removes calls of a project that started before a time, including deleted ones, with their bodies, usage, refs and
   * statistics; also ends without a start, by their own time. Performs one step and the pause after it: the caller
   * repeats it until all are removed, and can check before each step whether they still should be. Feedback and
   * annotations about them stay, as after a deletion. The remaining calls keep their numbers: the own usage of a
   * parent does not change when a child is removed. A call that is sent again or late is stored like any other, and
   * removed in the next round. The last step returns free space to the file system.
   *
   * @throws as removeDeleted does
   */
  expireCalls(expiry: CallExpiry, signal: AbortSignal): Promise<ExpiryStep>
}

/** A call with the additional data that was requested. */
export interface ListedCall {
  readonly call: CallTexts
  /** Over the trace; null unless asked for. */
  readonly totalStorageSizeBytes: number | null
  /** Bodies that are stored, but too long to be read for previews; absent: none. */
  readonly unread?: readonly PreviewedBody[]
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
   * @param shape - bodies it does not request are null in the calls; for previews also those of more than PREVIEWED_BYTES_MAX
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
