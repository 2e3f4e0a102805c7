/** The contract of requests to cancel responses that another process of the same store produces. */
import type { Principal } from '../../../domain/access/permissions.ts'

export interface ResponseCancel {
  readonly id: string
  readonly response_id: string
  /** Who cancels. */
  readonly caller: Pick<Principal, 'keyId' | 'projects'>
}

export interface ResponseCancelStore {
  /** Stores a request; its id is new. Requests that were left behind a minute ago are deleted. */
  requestCancel(cancel: ResponseCancel, now_us: number): Promise<void>
  /** The requests that no process has fulfilled. */
  listRequested(): Promise<ResponseCancel[]>
  /** Stores the cancelled response as JSON text; does nothing when the request was withdrawn. */
  fulfil(id: string, response_json: string): Promise<void>
  /** The cancelled response; null: no process has fulfilled the request yet. */
  findCancelled(id: string): Promise<string | null>
  /** Deletes a request, fulfilled or not. */
  withdraw(id: string): Promise<void>
}
