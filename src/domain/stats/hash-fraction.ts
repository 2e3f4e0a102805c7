/** Shares by hash: the same texts each time, in every process. Pure. */
import { createHash } from 'node:crypto'

const BITS = 48

/** Returns a number from 0 to below 1 that depends on the text alone; those of many texts are spread evenly. */
export function hashFraction(text: string): number {
  const digest = createHash('sha256').update(text).digest()
  return digest.readUIntBE(0, BITS / 8) / 2 ** BITS
}
