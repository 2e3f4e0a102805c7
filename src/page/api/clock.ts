/** The server's clock, as far as the browser's is wrong: else the newest calls would lie in the future, and be left out. */

/** Limit: smaller differences come of the way and of whole seconds. */
const DIFFERENCE_MIN_MS = 2000

let aheadMs = 0

/** @param date - the Date header of an answer */
export function noteServerTime(date: string | null): void {
  const difference = date === null ? Number.NaN : Date.parse(date) - Date.now()
  if (Number.isNaN(difference)) return
  aheadMs = Math.abs(difference) < DIFFERENCE_MIN_MS ? 0 : difference
}

/** Milliseconds since the epoch. */
export function serverNow(): number {
  return Date.now() + aheadMs
}
