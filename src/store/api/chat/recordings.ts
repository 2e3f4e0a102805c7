/** The contracts of the stores of recorded calls, which delay no response, and of responses. */
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'
import type { StoredResponse } from '../../../domain/chat/responses/responses-record.ts'

/** Recorded calls that could not be stored. */
export interface RecordingLoss {
  readonly count: number
  /** The error, for the log. */
  readonly error: unknown
}

export interface RecordingStore {
  /**
   * Makes reads of a call wait until it is stored, at most two seconds, since clients get its id earlier.
   *
   * @returns a function that ends the wait: pass it to `add`, or call it when the call will not be added
   */
  announce(projectId: string, id: string): () => void
  /**
   * Queues a complete call, which is stored shortly after. It is not acknowledged, so it may reach the disk later
   * still. Storing the same call again changes nothing.
   *
   * @param arrive - called when the call is stored or was reported as lost
   */
  add(call: RecordedCall, arrive?: () => void): void
  /** Resolves when all calls added before are stored or were reported as lost. */
  flush(): Promise<void>
  /** Sets the one listener for lost calls. */
  onLoss(listener: (loss: RecordingLoss) => void): void
}

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
