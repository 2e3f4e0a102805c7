/** The contract of the call store. */
import type { StoredCall } from '../../domain/call-view.ts'
import type { CallEnd, CallStart } from '../../domain/new-call.ts'

export interface CallStore {
  /**
   * Stores the start of a call. Resolves only after it is durable. The end may have come before. The same
   * start again is answered as the first time and changes nothing.
   *
   * @returns the stored id and trace_id, which on a repeat are those of the first time
   * @throws ApiError call_conflict when the id holds another start; server_overloaded, store_unavailable
   */
  startCall(start: CallStart): Promise<{ readonly id: string; readonly trace_id: string }>
  /**
   * Stores the end of a call. Resolves only after it is durable. The start may come later: until then the
   * call cannot be read. The same end again changes nothing.
   *
   * @throws ApiError call_conflict when the id holds another end; server_overloaded, store_unavailable
   */
  endCall(end: CallEnd): Promise<void>
  /** The call, or null when the id is unknown in the project, deleted, or has no start yet. */
  findCall(projectId: string, id: string): Promise<StoredCall | null>
  /** storage_size_bytes summed over the live calls of a trace; 0 when there are none. */
  sumTraceSizeBytes(projectId: string, traceId: string): Promise<number>
}
