/**
 * New ids: UUIDv7, many at once out of one piece of randomness, because asking the system for each id and
 * spelling its bytes one by one costs more than all else that is done with it.
 */
import { randomFillSync } from 'node:crypto'

const ID_BYTES = 16
const IDS_PER_FILL = 256
const pool = Buffer.alloc(IDS_PER_FILL * ID_BYTES)
const ID_DIGITS = ID_BYTES * 2

/** Hexadecimal digits of the pool; no digit is used twice. */
let digits = ''
let used = 0
/** The millisecond that ids were last made in, and what they begin with. */
let lastMs = -1
let start = ''

/** A UUIDv7, lower case. Ids of one millisecond have no order. */
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

/** The first six bytes of each id are its time and stay unused here. Spec: RFC 9562 §5.7. */
function fillPool(): void {
  randomFillSync(pool)
  for (let at = 0; at < pool.length; at += ID_BYTES) {
    pool.writeUInt8((pool.readUInt8(at + 6) & 0x0f) | 0x70, at + 6)
    pool.writeUInt8((pool.readUInt8(at + 8) & 0x3f) | 0x80, at + 8)
  }
  digits = pool.toString('hex')
  used = 0
}
