/** The contract of the call store. */
import type { StoredCall } from '../../../domain/calls/call-view.ts'
import type { CallEnd, CallParts, CallStart } from '../../../domain/calls/new-call.ts'
import type { PackedParts } from '../../../domain/calls/packed-parts.ts'
import type { PartResult, StartedIds } from '../../../domain/calls/part-result.ts'
import type { ApiError } from '../../../errors.ts'

export interface CallRename {
  readonly project_id: string
  readonly id: string
  /** null takes the name away. */
  readonly display_name: string | null
}

export interface CallDeletion {
  readonly project_id: string
  readonly ids: readonly string[]
  readonly deleted_at_us: number
}

export interface CallStore {
  /**
   * Stores the start of a call. Resolves only after it is durable. The end may have come before. The same
   * start again is answered as the first time and changes nothing.
   *
   * @returns the stored id and trace_id, which on a repeat are those of the first time
   * @throws ApiError call_conflict when the id holds another start; server_overloaded, store_unavailable
   */
  startCall(start: CallStart): Promise<StartedIds>
  /**
   * Stores the end of a call. Resolves only after it is durable. The start may come later: until then the
   * call cannot be read. The same end again changes nothing.
   *
   * @throws ApiError call_conflict when the id holds another end; server_overloaded, store_unavailable
   */
  endCall(end: CallEnd): Promise<void>
  /**
   * Stores many parts in one commit, as if each had come alone, in order. A part that is refused leaves
   * the others alone. Resolves only after it is durable.
   *
   * @returns a result for each part, in their order
   * @throws ApiError server_overloaded, store_unavailable: then nothing is stored
   */
  writeParts(parts: readonly CallParts[]): Promise<readonly PartResult[]>
  /**
   * The same with parts that were packed, as in another thread.
   *
   * @returns why some were refused, in their order
   */
  writePacked(packed: PackedParts): Promise<readonly ApiError[]>
  /**
   * Gives a call a name, which its start does not take away when it comes later.
   *
   * @throws ApiError call_not_found when the call was deleted; server_overloaded, store_unavailable
   */
  renameCall(rename: CallRename): Promise<void>
  /**
   * Deletes calls and everything that descends from them by parent_id, in one commit. A deleted call stays
   * deleted when parts of it come later; descendants that come later are not deleted.
   *
   * @returns how many were deleted now; unknown ids and deleted calls do not count
   */
  deleteCalls(deletion: CallDeletion): Promise<number>
  /** The call, or null when the id is unknown in the project, deleted, or has no start yet. */
  findCall(projectId: string, id: string): Promise<StoredCall | null>
  /** storage_size_bytes summed over the live calls of a trace; 0 when there are none. */
  sumTraceSizeBytes(projectId: string, traceId: string): Promise<number>
}
