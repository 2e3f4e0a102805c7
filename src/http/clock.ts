/** The clock for timestamps that the server assigns. The domain never reads it. */
import type { Clock } from '../domain/time/clock.ts'

const US_PER_MS = 1000
/** If the wall clock drifts from the steady clock by more than this between two reads, it was set. */
const JUMP_MS = 1000

/**
 * @param wallMs - the wall clock in milliseconds
 * @param steadyMs - a monotonic clock, in milliseconds
 */
export function createClock(
  wallMs: () => number = () => Date.now(),
  steadyMs: () => number = () => performance.now(),
): Clock {
  const listeners = new Set<(movedUs: number) => void>()
  let lastUs = 0
  /** How far the wall clock was ahead of the steady one at the last read. */
  let aheadMs = wallMs() - steadyMs()

  return {
    nowUs() {
      const wall = wallMs()
      const ahead = wall - steadyMs()
      const movedMs = ahead - aheadMs
      aheadMs = ahead
      const nowUs = Math.floor(wall * US_PER_MS)
      if (Math.abs(movedMs) <= JUMP_MS) {
        lastUs = Math.max(lastUs + 1, nowUs)
        return lastUs
      }
      lastUs = nowUs - 1
      for (const listener of listeners) listener(Math.round(movedMs * US_PER_MS))
      // Listeners may read the clock, too.
      lastUs = Math.max(lastUs + 1, nowUs)
      return lastUs
    },
    onJump(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
