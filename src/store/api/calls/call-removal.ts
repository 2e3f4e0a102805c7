/** The contract of the removal of calls from disk: deleted ones, and those past their retention. */

export interface CallExpiry {
  readonly project_id: string
  /** A full hour in UTC; calls that start at it or later are kept. */
  readonly before_us: number
}

/** The result of a step of an expiry. */
export interface ExpiryStep {
  /** How many calls were removed, including ends without a start. */
  readonly calls: number
  /** Whether nothing is left to do. */
  readonly isDone: boolean
}

/**
 * Both methods work in bounded, atomic steps with longer pauses in between, in which other writes run. After a crash
 * the next round continues from the last step. An abort takes effect after the current step.
 */
export interface CallRemoval {
  /**
   * Removes the content of deleted calls: bodies, usage, refs. Their ids stay deleted; parts that arrive later are
   * acknowledged and dropped. Then returns free space to the file system.
   *
   * @returns how many calls were freed
   * @throws ApiError server_overloaded, store_unavailable, server_draining: calls freed before stay freed
   */
  removeDeleted(signal: AbortSignal): Promise<number>
  /**
   * Removes calls of a project that started before a time, including deleted ones, with their bodies, usage, refs and
   * statistics; also ends without a start, by their own time. Performs one step and the pause after it: the caller
   * repeats it until all are removed, and can check before each step whether they still should be. Feedback and
   * annotations about them stay, as after a deletion. The remaining calls keep their numbers: the own usage of a
   * parent does not change when a child is removed. A call that is sent again or late is stored like any other, and
   * removed in the next round. The last step returns free space to the file system.
   *
   * @throws as removeDeleted does
   */
  expireCalls(expiry: CallExpiry, signal: AbortSignal): Promise<ExpiryStep>
}
