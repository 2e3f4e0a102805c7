/** The contract of the store of responses. */
import type { StoredResponse } from '../../../domain/chat/responses/responses-record.ts'

export interface ResponseStore {
  /**
   * Stores a response; its id is new. Resolves only after it is durable.
   *
   * @throws ApiError server_overloaded, store_unavailable
   */
  insertResponse(response: StoredResponse): Promise<void>
  /** The response, or null. Finds every response inserted before. */
  findResponse(id: string): Promise<StoredResponse | null>
  /** Deletes a response with its texts; false when there is none. Responses that continue it stay. */
  deleteResponse(id: string): Promise<boolean>
}
