/** The server's clock for times that the server itself gives. The domain never reads it. */

const US_PER_MS = 1000

/**
 * A clock in whole microseconds since the epoch that never gives a time twice nor goes back: what was
 * stamped before lies before.
 *
 * @param nowMs - the wall clock in milliseconds
 */
export function createClock(nowMs: () => number = Date.now): () => number {
  let lastUs = 0
  return () => {
    lastUs = Math.max(lastUs + 1, Math.floor(nowMs() * US_PER_MS))
    return lastUs
  }
}
