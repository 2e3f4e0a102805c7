/**
 * Generates UUIDv7 ids from a pool of random bytes, because a system call and the formatting of 16 bytes per id cost
 * more than everything else that is done with it.
 */
import { randomFillSync } from 'node:crypto'

const ID_BYTES = 16
const IDS_PER_FILL = 256
const pool = Buffer.alloc(IDS_PER_FILL * ID_BYTES)
const ID_DIGITS = ID_BYTES * 2

/** The pool in hexadecimal; no digit is used twice. */
let digits = ''
let used = 0
/** The millisecond of the last id, and the beginning of ids of that millisecond. */
let lastMs = -1
let start = ''

/** Returns a UUIDv7 in lower case. Ids of one millisecond are not ordered. */
export function newId(): string {
  if (used === digits.length) fillPool()
  const nowMs = Date.now()
  if (nowMs !== lastMs) {
    lastMs = nowMs
    const time = nowMs.toString(16).padStart(12, '0')
    start = `${time.slice(0, 8)}-${time.slice(8)}`
  }
  const at = used
  used += ID_DIGITS
  const low = `${digits.slice(at + 12, at + 16)}-${digits.slice(at + 16, at + 20)}`
  return `${start}-${low}-${digits.slice(at + 20, at + ID_DIGITS)}`
}

/** Fills the pool. The first six bytes of each id are unused, because they are its time. Spec: RFC 9562 §5.7. */
function fillPool(): void {
  randomFillSync(pool)
  for (let at = 0; at < pool.length; at += ID_BYTES) {
    pool.writeUInt8((pool.readUInt8(at + 6) & 0x0f) | 0x70, at + 6)
    pool.writeUInt8((pool.readUInt8(at + 8) & 0x3f) | 0x80, at + 8)
  }
  digits = pool.toString('hex')
  used = 0
}
