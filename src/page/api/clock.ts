/** Corrects the browser's clock by the server's; with a wrong one the newest calls would lie in the future. */

/** Limit: milliseconds of difference that latency and the rounding to seconds explain. */
const DIFFERENCE_MIN_MS = 2000

let aheadMs = 0

/** @param date - the Date header of a response */
export function noteServerTime(date: string | null): void {
  const difference = date === null ? Number.NaN : Date.parse(date) - Date.now()
  if (Number.isNaN(difference)) return
  aheadMs = Math.abs(difference) < DIFFERENCE_MIN_MS ? 0 : difference
}

/** Milliseconds since the epoch. */
export function serverNow(): number {
  return Date.now() + aheadMs
}
