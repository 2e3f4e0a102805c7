/** Advantages and weights against numbers that were worked out by hand. */
import { describe, expect, it } from 'vitest'
import {
  groupAdvantages,
  meanOf,
  standardDeviation,
  weighBatch,
} from '../../../src/domain/training/advantages.ts'

describe('groupAdvantages', () => {
  it('advantages are the differences to the mean, divided by the population deviation and a millionth', () => {
    const [low, middle, high] = groupAdvantages([1, 2, 6], true)
    const deviation = Math.sqrt((4 + 1 + 9) / 3) + 1e-6
    expect(low).toBeCloseTo(-2 / deviation, 12)
    expect(middle).toBeCloseTo(-1 / deviation, 12)
    expect(high).toBeCloseTo(3 / deviation, 12)
  })

  it('unscaled advantages are the differences to the mean', () => {
    expect(groupAdvantages([1, 2, 6], false)).toEqual([-2, -1, 3])
  })

  it('equal rewards have advantages of exactly 0, even if their mean is rounded', () => {
    const rewards = Array.from({ length: 7 }, () => 0.1)
    expect(groupAdvantages(rewards, true)).toEqual(rewards.map(() => 0))
    expect(groupAdvantages([0.3], false)).toEqual([0])
    expect(groupAdvantages([], true)).toEqual([])
  })

  it.each([1e155, 1.7e308, Number.MAX_VALUE])(
    'advantages are right for rewards as large as %d',
    (size) => {
      expect(groupAdvantages([size, 0], true)).toEqual([1, -1])
      expect(groupAdvantages([size, -size], true)).toEqual([1, -1])
      expect(groupAdvantages([size, size, size], true)).toEqual([0, 0, 0])
      expect(groupAdvantages([size, 0], false)).toEqual([size / 2, -size / 2])
      const apart = groupAdvantages([size, -size, -size, -size], false)
      expect(apart[0]).toBe(Math.min(Number.MAX_VALUE, 1.5 * size))
      expect(weighBatch([{ advantage: apart[0]!, trainableTokens: 1 }], 0)[0]?.advantage).toBe(1)
    },
  )

  it('the smallest differences of rewards yield different advantages', () => {
    const [good = 0, bad = 0] = groupAdvantages([1e-300, -1e-300], true)
    expect([good > 0, bad < 0]).toEqual([true, true])
  })
})

describe('weighBatch', () => {
  const trajectories = [
    { advantage: 3, trainableTokens: 10 },
    { advantage: -1, trainableTokens: 2 },
    { advantage: -2, trainableTokens: 6 },
  ]

  it('each rollout has the same weight, with a mean of 1 over all tokens', () => {
    const weights = weighBatch(trajectories, 0).map(({ weight }) => weight)
    // 18 tokens, 3 rollouts: 18 / (3 * 10), 18 / (3 * 2), 18 / (3 * 6).
    expect(weights).toEqual([0.6, 3, 1])
    expect((10 * 0.6 + 2 * 3 + 6 * 1) / 18).toBeCloseTo(1, 12)
  })

  it('the mean absolute advantage over all tokens is scaled to 1', () => {
    // (10 * 3 * 0.6 + 2 * 1 * 3 + 6 * 2 * 1) / 18 = 2
    expect(weighBatch(trajectories, 0).map(({ advantage }) => advantage)).toEqual([1.5, -0.5, -1])
  })

  it('weights do not depend on the scale of rewards', () => {
    const larger = trajectories.map((one) => ({ ...one, advantage: 64 * one.advantage }))
    expect(weighBatch(larger, 0.5)).toEqual(weighBatch(trajectories, 0.5))
  })

  it('shrinks bad rollouts for a balance above 0 and good ones below 0, before sizes are compared', () => {
    const at = (balance: number) =>
      weighBatch(trajectories, balance).map(({ advantage }) => advantage)
    // 3, -0.5, -1 with a mean size of 1.5
    expect(at(0.5)).toEqual([2, -0.5 / 1.5, -1 / 1.5])
    // 1.5, -1, -2
    expect(at(-0.5)).toEqual([1, -1 / 1.5, -2 / 1.5])
    expect(at(1)).toEqual([3, -0, -0])
    expect(at(-1)).toEqual([0, -1, -2])
  })

  it('a balance that removes all advantages leaves no weights', () => {
    expect(weighBatch([{ advantage: -1, trainableTokens: 4 }], 1)).toEqual([
      { advantage: 0, weight: 1 },
    ])
    expect(weighBatch([], 0)).toEqual([])
  })
})

describe('standardDeviation', () => {
  it("the standard deviation is the population's", () => {
    expect(standardDeviation([2, 4, 4, 4, 5, 5, 7, 9])).toBe(2)
    expect(standardDeviation([])).toBe(0)
  })

  it('standard deviation and mean are finite for all finite numbers', () => {
    const largest = Number.MAX_VALUE
    expect(standardDeviation([largest, -largest])).toBe(largest)
    expect(standardDeviation([1e155, 0])).toBe(5e154)
    expect(meanOf([largest, largest, largest])).toBe(largest)
    expect(meanOf([1.7e308, -1.7e308])).toBe(0)
    expect(meanOf([])).toBe(0)
  })
})
