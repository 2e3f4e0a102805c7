/** Ids that the server assigns to whatever clients send without an id. */
import { randomFillSync } from 'node:crypto'
import { createOrderedIds } from '../domain/time/ordered-ids.ts'

const US_PER_MS = 1000
/** Size of the pool of random bytes: one system call per id would cost more than the id itself. */
const POOL_BYTES = 4096

const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES

/** Returns a UUIDv7 in lower case. The ids of one process sort by creation, unless the wall clock is set back. */
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
