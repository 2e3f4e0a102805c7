import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBlobRing } from '../../../src/store/sqlite/stats/segments/blob-ring.ts'

const BYTES_MAX = 256

/** Keys to read, by round; a key stands for a blob of its own length and content. */
const rounds = fc.array(fc.array(fc.nat(30), { maxLength: 30 }), { maxLength: 10 })

function blobOf(key: number): Uint8Array {
  return new Uint8Array((key * 13) % 90).fill(key)
}

describe('createBlobRing', () => {
  it('gives what was kept, unchanged until the round ends', () => {
    const property = fc.property(rounds, (keysOfRounds) => {
      const ring = createBlobRing<Uint8Array>(BYTES_MAX)
      for (const keys of keysOfRounds) {
        ring.begin()
        const used = keys.map((key) => {
          const known = ring.recall(key)
          return [key, known?.value ?? ring.keep(key, key, blobOf(key), (bytes) => bytes)] as const
        })
        for (const [key, bytes] of used) expect(bytes).toEqual(blobOf(key))
        ring.end()
      }
    })
    fc.assert(property, { numRuns: 2000 })
  })

  it('keeps what fits, and lets the oldest go for more', () => {
    const ring = createBlobRing<number>(BYTES_MAX)
    const keep = (key: number) => {
      ring.begin()
      return ring.keep(key, 1, new Uint8Array(60), () => key)
    }
    for (const key of [1, 2, 3, 4]) expect(keep(key)).toBe(key)
    expect(ring.recall(1)?.value).toBe(1)
    keep(5)
    expect([1, 2, 5].map((key) => ring.recall(key)?.value)).toEqual([undefined, 2, 5])
  })

  it('does not let go what the round has used, nor keeps what is null or too long', () => {
    const ring = createBlobRing<number>(BYTES_MAX)
    ring.begin()
    for (const key of [1, 2, 3, 4]) ring.keep(key, 1, new Uint8Array(64), () => key)
    expect(ring.keep(5, 1, new Uint8Array(64), () => 5)).toBe(5)
    expect([1, 5].map((key) => ring.recall(key)?.value)).toEqual([1, undefined])
    ring.begin()
    expect(ring.keep(6, 1, new Uint8Array(8), () => null)).toBeNull()
    ring.keep(7, 1, new Uint8Array(BYTES_MAX + 1), () => 7)
    expect([6, 7].map((key) => ring.recall(key))).toEqual([null, null])
  })
})
