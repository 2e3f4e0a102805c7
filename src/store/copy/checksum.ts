/** A checksum of a set of rows that depends neither on their order nor on that of their fields. */
import { createHash } from 'node:crypto'

interface Checksum {
  add(row: object): void
  /** 16 hexadecimal digits. */
  end(): string
}

export function createChecksum(): Checksum {
  let sum = 0n
  return {
    add(row) {
      sum = BigInt.asUintN(64, sum + hashOf(row))
    },
    end: () => sum.toString(16).padStart(16, '0'),
  }
}

/** Returns a 64-bit hash of all fields of a row. */
function hashOf(row: object): bigint {
  const values = Object.entries(row)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => [name, Buffer.isBuffer(value) ? { sha256: digestOf(value) } : value])
  return createHash('sha256').update(JSON.stringify(values)).digest().readBigUInt64BE()
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
