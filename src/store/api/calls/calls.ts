/** The contract of the call store. */

import type { PartResult, StartedIds } from '../../../domain/calls/call-state.ts'
import type { StoredCall } from '../../../domain/calls/call-view.ts'
import type { CallEnd, CallParts, CallStart } from '../../../domain/calls/new-call.ts'
import type { PackedCalls } from '../../../domain/calls/packed-calls.ts'
import type { ApiError } from '../../../errors.ts'

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
   * @returns the reasons of the refused ones, in order
   */
  writePacked(packed: PackedCalls<CallParts>): Promise<readonly ApiError[]>
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
   * @returns how many were deleted by this request; unknown ids and deleted calls do not count
   */
  deleteCalls(deletion: CallDeletion): Promise<number>
  /** The call, or null when the id is unknown in the project, deleted, or has no start yet. */
  findCall(projectId: string, id: string): Promise<StoredCall | null>
  /** storage_size_bytes summed over the live calls of a trace; 0 when there are none. */
  sumTraceSizeBytes(projectId: string, traceId: string): Promise<number>
}
