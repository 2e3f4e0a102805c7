/** Ids that sort by the time of their creation. */
import { v7 as uuidv7 } from 'uuid'

const US_PER_MS = 1000
const RANDOM_BYTES = 16
/** The highest count within a millisecond. */
const SEQUENCE_MAX = 2 ** 32 - 1

/**
 * @param nowUs - the time of the next id, microseconds. Ids follow it back when the clock was set, so that they sort as
 * the times do that stand beside them in rows
 * @param drawBytes - returns that many unpredictable bytes
 * @returns gives UUIDv7, lower case; those of one millisecond sort in their order
 *
 * Spec: RFC 9562 §5.7, §6.2 (method 1: a count that begins at a random number).
 */
export function createOrderedIds(
  nowUs: () => number,
  drawBytes: (count: number) => Uint8Array,
): () => string {
  let lastMs = Number.NaN
  let sequence = 0
  return () => {
    const msecs = Math.floor(nowUs() / US_PER_MS)
    const random = drawBytes(RANDOM_BYTES)
    const isNew = msecs !== lastMs || sequence === SEQUENCE_MAX
    sequence = isNew ? startOf(random) : sequence + 1
    lastMs = msecs
    return uuidv7({ msecs, seq: sequence, random })
  }
}

/** Returns a start value with first bit 0, so that no millisecond runs out of numbers. */
function startOf(random: Uint8Array): number {
  return new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1
}
