/**
 * The clock that calls expire by. What is removed does not come back, so a wall clock that was set ahead is believed
 * only after it has stood so for a while; one that was set back is followed at once.
 */

/** A wall clock that is ahead by more than this since the last look was set, or the machine slept. */
const JUMP_MS = 3_600_000
/** How long such a clock is doubted. */
const DOUBT_MS = 3_600_000

interface CautiousClockOptions {
  /** Told once for each time that the clock was set ahead. */
  readonly onDoubt: (aheadMs: number) => void
  readonly wallMs?: () => number
  /** A clock that nobody can set. */
  readonly steadyMs?: () => number
}

/** @returns the time in microseconds; the clock that it begins with is believed */
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
