/** The contract of the store of recordings: calls that the server itself makes, beside the way of an answer. */
import type { RecordedCall } from '../../domain/calls/recorded-call.ts'

/** Recorded calls that could not be stored. */
export interface RecordingLoss {
  readonly count: number
  /** Why, for the log. */
  readonly error: unknown
}

export interface RecordingStore {
  /**
   * Takes a whole call, which is stored within a moment. Nobody is told, so it may reach the disk a moment later
   * still. A call whose id is taken changes nothing when it is the same.
   */
  add(call: RecordedCall): void
  /** Resolves when all that was added before is stored or was told as lost. */
  flush(): Promise<void>
  /** Has the one listener told of every loss from here on. */
  onLoss(listener: (loss: RecordingLoss) => void): void
}
