/** The contract of health checks of a store. */

export interface StoreState {
  /** What fails now, as public text: `writes fail: the disk is full`; empty when the store works. */
  readonly failing: readonly string[]
  /** The error behind the first of them, for the log. */
  readonly cause: unknown
  readonly missing: MissingFiles
}

/** Files that had rows at the start but no bytes. */
export interface MissingFiles {
  /** Uploaded files; uploading one again repairs it. */
  readonly files: number
  readonly training_payloads: number
  /** Weights of checkpoints. */
  readonly artifacts: number
}

export interface StoreHealth {
  /** Tries a read and a write; the result is cached for a second. Never fails; takes two seconds at most. */
  checkStore(): Promise<StoreState>
}
