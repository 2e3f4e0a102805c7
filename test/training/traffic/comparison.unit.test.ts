import { describe, expect, it } from 'vitest'
import { compareRewards } from '../../../src/domain/training/comparison.ts'
import { createRandom } from '../../../src/inference/tiny/sampling/random.ts'

const random = (seed: number) => createRandom(BigInt(seed), 0).next
const pairsOf = (differences: readonly number[]) =>
  differences.map((one, index) => ({ baseline: index, candidate: index + one }))

describe('compareRewards', () => {
  it('has an interval of the mean difference, the same for the same seed', () => {
    const pairs = pairsOf([1, 0, 1, 1, 0, 1, 1, 1])
    const found = compareRewards(pairs, random(1))
    expect(found).toEqual(compareRewards(pairs, random(1)))
    expect(found).toMatchObject({ prompts: 8, mean: 0.75, high: 1 })
    // 2.7 of 100 draws of eight have at most three ones.
    expect([0.375, 0.5]).toContain(found.low)
    // Signs of six differences: all of them alike in 2 of 64 arrangements.
    expect(found.p_value).toBeGreaterThan(0.015)
    expect(found.p_value).toBeLessThan(0.05)
  })

  it('has the mirrored interval for the models the other way round', () => {
    const { next } = createRandom(5n, 0)
    const pairs = Array.from({ length: 9 }, () => ({ baseline: next(), candidate: next() }))
    const { low, high, p_value } = compareRewards(pairs, random(1))
    const swapped = pairs.map(({ baseline, candidate }) => ({
      baseline: candidate,
      candidate: baseline,
    }))
    const found = compareRewards(swapped, random(1))
    expect([found.low, found.high, found.p_value]).toEqual([-Number(high), -Number(low), p_value])
  })

  it('has the same p-value for rewards in a smaller unit', () => {
    const pairsOfUnit = (unit: number) =>
      [1, 2, 3, 4, 6, -2, 7].map((one) => ({ baseline: 0, candidate: (one / 10) * unit }))
    const { p_value } = compareRewards(pairsOfUnit(1), random(1))
    expect(compareRewards(pairsOfUnit(1e-13), random(1)).p_value).toBe(p_value)
  })

  it('covers the true difference in some 95 of 100 samples', () => {
    const { next } = createRandom(7n, 0)
    const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()) + 0.3
    let covered = 0
    for (let i = 0; i < 100; i++) {
      const pairs = pairsOf(Array.from({ length: 60 }, normal))
      const { low, high } = compareRewards(pairs, next)
      if (low !== null && high !== null && low <= 0.3 && 0.3 <= high) covered += 1
    }
    expect(covered).toBeGreaterThanOrEqual(88)
    expect(covered).toBeLessThan(100)
  }, 60_000)

  it('has no interval without prompts to draw from', () => {
    expect(compareRewards([], random(1))).toMatchObject({ prompts: 0, mean: null, low: null })
    expect(compareRewards(pairsOf([2]), random(1))).toMatchObject({ mean: 2, low: null })
  })

  it('finds nothing where nothing differs', () => {
    const found = compareRewards(pairsOf([0, 0, 0]), random(1))
    expect(found).toMatchObject({ mean: 0, low: 0, high: 0, p_value: 1 })
  })
})
