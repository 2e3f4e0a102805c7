/** The contract of what takes calls off the disk: those that were deleted, and those that are too old. */

export interface CallExpiry {
  readonly project_id: string
  /** A whole hour in UTC; what begins in it or later stays. */
  readonly before_us: number
}

/**
 * Both works go in bounded steps, between which writes of others have their turn, and rest longer than they work. Each
 * step is whole: after a crash the next round goes on from there. An abort ends the work after the step under way.
 */
export interface CallRemoval {
  /**
   * Frees what deleted calls hold: bodies, usage, refs. Their ids stay deleted, and parts that come later are
   * acknowledged and not kept. Then room that is free is given back to the file system.
   *
   * @returns how many calls were freed
   * @throws ApiError server_overloaded, store_unavailable, server_draining: what was freed before stays so
   */
  removeDeleted(signal: AbortSignal): Promise<number>
  /**
   * Lets go of all calls of a project that began before a time, deleted ones included, with their bodies, usage, refs
   * and statistics; also of ends whose start has not come, by their own time. Feedback and annotations that name them
   * stay, as after a deletion. What remains counts as before: a parent's own usage is still what it was without the
   * child that left. A call that is sent again or later is stored as any other, and leaves the next time. Then room
   * that is free is given back.
   *
   * @returns how many calls left, ends without a start included
   * @throws as removeDeleted does
   */
  expireCalls(expiry: CallExpiry, signal: AbortSignal): Promise<number>
}
