/** A clock as those who are given one see it. */

export interface Clock {
  /**
   * Whole microseconds since the epoch, never twice the same, and never back as long as nobody sets the wall clock: what
   * was stamped before lies before. A wall clock that was set by more than a second, forward or back, is
   * followed at once: times that stand still at a wrong future would be worse than times that lie twice.
   */
  readonly nowUs: () => number
  /**
   * Calls the listener when the wall clock was set, before the first time of the new clock is given: what waits for a
   * time must wait for another one now.
   *
   * @param listener - with the microseconds by which the clock was moved
   * @returns the end of it
   */
  onJump(listener: (movedUs: number) => void): () => void
}
