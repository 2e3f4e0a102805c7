/** The pause before a thread that has ended is replaced. It must not start a thread that crashes at once over and over. */

/** Limits of the pause in milliseconds; it doubles with each crash. */
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 60_000

interface RestartPause {
  /** Notes the start of a thread. */
  begin(): void
  /** Notes its end. @returns milliseconds to wait */
  end(isCrash: boolean): number
}

/** @param nowMs - a monotonic clock in milliseconds */
export function createRestartPause(nowMs: () => number): RestartPause {
  let pauseMs = PAUSE_MS_MIN
  let begunMs = nowMs()
  return {
    begin() {
      begunMs = nowMs()
    },
    end(isCrash) {
      // A thread that lived longer than the longest pause was sound: its crash is not one of a series.
      if (!isCrash || nowMs() - begunMs > PAUSE_MS_MAX) pauseMs = PAUSE_MS_MIN
      // A thread that exits normally has finished its work and only frees its memory.
      if (!isCrash) return 0
      const waitMs = pauseMs
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
      return waitMs
    },
  }
}
