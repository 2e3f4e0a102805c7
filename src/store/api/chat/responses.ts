/** The contract of the store of responses. */
import type { StoredResponse } from '../../../domain/chat/responses-record.ts'

export interface ResponseStore {
  /**
   * Stores a response; its id is new. Resolves only after it is durable.
   *
   * @throws ApiError server_overloaded, store_unavailable
   */
  insertResponse(response: StoredResponse): Promise<void>
  /** The response, or null. One that was inserted is found from then on. */
  findResponse(id: string): Promise<StoredResponse | null>
  /** Deletes a response with its texts; false when there is none. Others that go on from it stay. */
  deleteResponse(id: string): Promise<boolean>
}
