/** The ids that the server gives to what clients send without one. */
import { randomFillSync } from 'node:crypto'
import { createOrderedIds } from '../domain/time/ordered-ids.ts'

const US_PER_MS = 1000
/** Bytes: a system call for each id would cost more than the id. */
const POOL_BYTES = 4096

const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES

/** Returns a UUIDv7 in lower case; those of one process sort in their order while the clock is not set back. */
export const newId = createOrderedIds(() => Date.now() * US_PER_MS, drawBytes)

/** Returns bytes that are used once. */
function drawBytes(count: number): Uint8Array {
  if (used + count > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return pool.subarray(used - count, used)
}
