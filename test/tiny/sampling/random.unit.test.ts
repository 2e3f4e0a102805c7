/** The seeded generator: repeatable, even, and different for every seed and index. */
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../src/inference/tiny/sampling/random.ts'

const draw = (seed: bigint, index = 0, count = 4): number[] => {
  const random = createRandom(seed, index)
  return Array.from({ length: count }, () => random.next())
}

describe('createRandom', () => {
  it('repeats itself for the same seed and index', () => {
    expect(draw(42n, 3)).toEqual(draw(42n, 3))
  })

  it('differs between near seeds, indexes and signs', () => {
    const firsts = [
      draw(0n),
      draw(1n),
      draw(-1n),
      draw(2n ** 32n),
      draw(2n ** 53n),
      draw(0n, 1),
      draw(1n, 1),
    ]
    expect(new Set(firsts.map(([first]) => first)).size).toBe(firsts.length)
  })

  it('takes a seed modulo 2^64', () => {
    expect(draw(2n ** 64n + 5n)).toEqual(draw(5n))
    expect(draw(-1n)).toEqual(draw(2n ** 64n - 1n))
  })

  it('fills [0, 1) evenly', () => {
    const values = draw(9n, 0, 20_000)
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...values)).toBeLessThan(1)
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = values.filter((value) => Math.floor(value * 10) === tenth).length / 20_000
      expect(Math.abs(share - 0.1)).toBeLessThan(0.01)
    }
  })
})
