/** The contract of a store that tells how it is. */

export interface StoreState {
  /** What fails now, in public words: `writes fail: the disk is full`; empty when the store can be used. */
  readonly failing: readonly string[]
  /** Why, of the first; for the log. */
  readonly cause: unknown
  readonly missing: MissingFiles
}

/** Files whose rows were there at the start and whose bytes were not. */
export interface MissingFiles {
  /** Uploaded files; one that is sent again is whole again. */
  readonly files: number
  readonly training_payloads: number
  /** Weights of checkpoints. */
  readonly artifacts: number
}

export interface StoreHealth {
  /** Reads and writes; what it found is told again for a second. Never fails, and takes two seconds at most. */
  checkStore(): Promise<StoreState>
}
