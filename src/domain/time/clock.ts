/** The interface of a clock. */

export interface Clock {
  /**
   * Whole microseconds since the epoch. While nobody sets the wall clock each time is later than the one before. A wall
   * clock that was set by more than a second, forward or back, is followed at once: the same time may then come a
   * second time, which is better than to stand still until a wrong future is reached.
   */
  readonly nowUs: () => number
  /**
   * Calls the listener when the wall clock was set, before the clock returns its first new time, so that timers can
   * be reset.
   *
   * @param listener - with the microseconds by which the clock was moved
   * @returns ends the subscription
   */
  onJump(listener: (movedUs: number) => void): () => void
}
