/** New ids: UUIDv7 out of a pool of randomness, because asking the system for each id costs more than the id. */
import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

const ID_BYTES = 16
const POOL_BYTES = 256 * ID_BYTES
const pool = new Uint8Array(POOL_BYTES)
let used = POOL_BYTES

/** A UUIDv7, lower case; no bytes of the pool are used twice. */
export function newId(): string {
  if (used === POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + ID_BYTES)
  used += ID_BYTES
  return v7({ random })
}
