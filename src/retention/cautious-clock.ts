/**
 * The clock for the expiry of calls. Removal cannot be undone, so a wall clock that was set ahead is trusted only after
 * an hour; one that was set back is followed at once.
 */

/** A wall clock that gained more than this since the last reading was set, or the machine slept. */
const JUMP_MS = 3_600_000
/** How long such a clock is distrusted. */
const DOUBT_MS = 3_600_000

interface CautiousClockOptions {
  /** Called once each time the clock was set ahead. */
  readonly onDoubt: (aheadMs: number) => void
  readonly wallMs?: () => number
  /** A monotonic clock. */
  readonly steadyMs?: () => number
}

/** @returns a function that reads the time in microseconds; the first reading of the clock is trusted */
export function createCautiousClock({
  onDoubt,
  wallMs = () => Date.now(),
  steadyMs = () => performance.now(),
}: CautiousClockOptions): () => number {
  /** How far the wall clock is ahead of the steady one. */
  let believed = wallMs() - steadyMs()
  let doubted: { readonly ahead: number; readonly sinceMs: number } | null = null
  return () => {
    const steady = steadyMs()
    const ahead = wallMs() - steady
    if (ahead - believed > JUMP_MS) {
      if (doubted === null || Math.abs(ahead - doubted.ahead) > JUMP_MS) {
        doubted = { ahead, sinceMs: steady }
        onDoubt(Math.round(ahead - believed))
      }
      if (steady - doubted.sinceMs < DOUBT_MS) return Math.floor((steady + believed) * 1000)
    }
    doubted = null
    believed = ahead
    return Math.floor((steady + believed) * 1000)
  }
}
