/** The contract of the store of recordings: calls that the server itself makes, beside the way of an answer. */
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'

/** Recorded calls that could not be stored. */
export interface RecordingLoss {
  readonly count: number
  /** Why, for the log. */
  readonly error: unknown
}

export interface RecordingStore {
  /**
   * Has reads of a call wait for it, at most two seconds, since its id is told before it is stored.
   *
   * @returns ends the wait; to be handed to `add`, or called when the call will not be added
   */
  announce(projectId: string, id: string): () => void
  /**
   * Takes a whole call, which is stored within a moment. Nobody is told, so it may reach the disk a moment later
   * still. A call whose id is taken changes nothing when it is the same.
   *
   * @param arrive - called when the call is stored or was told as lost
   */
  add(call: RecordedCall, arrive?: () => void): void
  /** Resolves when all that was added before is stored or was told as lost. */
  flush(): Promise<void>
  /** Has the one listener told of every loss from here on. */
  onLoss(listener: (loss: RecordingLoss) => void): void
}
