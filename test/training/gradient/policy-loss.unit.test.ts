/** The losses against numbers that were worked out by hand. */
import { describe, expect, it } from 'vitest'
import { type LossConfig, policyLoss } from '../../../src/domain/training/policy-loss.ts'
import { resolveTrainingConfig } from '../../../src/domain/training/resolve-training-config.ts'

const LN2 = Math.log(2)

/** Tokens that became 2, 1/2 and exactly 1 times as likely; the last one's old logarithm is not known. */
const current = [-1, -2, -0.5, -3]
const sampled = [-1 - LN2, -2 + LN2, -0.5, Number.NaN]

function lossOf(config: Parameters<typeof resolveTrainingConfig>[0], advantage: number) {
  const resolved: LossConfig = resolveTrainingConfig(config)
  const { loss, slopes } = policyLoss(resolved, { current, sampled, advantage })
  return { loss, slopes: [...slopes] }
}

function expectClose(found: { loss: number; slopes: number[] }, loss: number, slopes: number[]) {
  expect(found.loss).toBeCloseTo(loss, 12)
  expect(found.slopes).toHaveLength(slopes.length)
  for (const [i, slope] of slopes.entries()) expect(found.slopes[i]).toBeCloseTo(slope, 12)
}

describe('CISPO', () => {
  it('CISPO weighs logarithms by the ratio; an unknown sampled logarithm counts as a ratio of 1', () => {
    // -(2 * -1 + 0.5 * -2 + 1 * -0.5 + 1 * -3) * 1.5
    expectClose(lossOf(null, 1.5), 9.75, [-3, -0.75, -1.5, -1.5])
  })

  it('CISPO clips the ratio from 0 to 5 by default', () => {
    const resolved = resolveTrainingConfig(null)
    const ratios = [8, 1 / 1024]
    const { slopes } = policyLoss(resolved, {
      current: [-1, -9],
      sampled: ratios.map((ratio, i) => [-1, -9][i]! - Math.log(ratio)),
      advantage: 1,
    })
    expect(slopes[0]).toBeCloseTo(-5, 12)
    expect(slopes[1]).toBeCloseTo(-1 / 1024, 12)
  })

  it('CISPO clips by epsilon and epsilon_high', () => {
    const found = lossOf({ epsilon: 0.25, epsilon_high: 0.5 }, 1)
    // Ratios 1.5, 0.75, 1, 1.
    expectClose(found, 1.5 + 1.5 + 0.5 + 3, [-1.5, -0.75, -1, -1])
  })

  it('has an upper bound of the ratio for every token, whatever the sign of its advantage', () => {
    const config = { max_negative_advantage_importance_sampling_weight: 0.8 }
    expectClose(lossOf(config, 1), 0.8 + 1 + 0.4 + 2.4, [-0.8, -0.5, -0.8, -0.8])
    expectClose(lossOf(config, -1), -(0.8 + 1 + 0.4 + 2.4), [0.8, 0.5, 0.8, 0.8])
  })

  it('leaves masked tokens out where epsilon is 1, and clips them up to 1 - epsilon below', () => {
    expectClose(
      lossOf({ mask_prob_ratio: true, epsilon_high: 0.5 }, 1),
      0 + 1 + 0.5 + 3,
      [-0, -0.5, -1, -1],
    )
    const narrow = { mask_prob_ratio: true, epsilon: 0.25, epsilon_high: 0.5 }
    expectClose(lossOf(narrow, 1), 0.75 + 1.5 + 0.5 + 3, [-0.75, -0.75, -1, -1])
  })

  it('lowers the advantage by tau times the difference of the logarithms', () => {
    const found = lossOf({ model_k2_tau: 0.5 }, 1)
    const [up, down] = [1 - 0.5 * LN2, 1 + 0.5 * LN2]
    expectClose(found, 2 * up + 0.5 * down * 2 + 0.5 + 3, [-2 * up, -0.5 * down, -1, -1])
  })

  it('takes one ratio for the whole sequence, or a mean of both', () => {
    const at = (level: string) =>
      lossOf({ importance_sampling_level: level as 'token' }, 1).slopes[0] ?? 0
    // The differences are ln 2, -ln 2, 0 and 0, so the sequence's own ratio is 1.
    expect(at('token')).toBeCloseTo(-2, 12)
    expect(at('sequence')).toBeCloseTo(-1, 12)
    expect(at('average')).toBeCloseTo(-1.5, 12)
    expect(at('geometric_average')).toBeCloseTo(-Math.sqrt(2), 12)
  })
})

describe('PPO', () => {
  it('PPO gives no derivative to a good token that became likelier than the range', () => {
    // Ratios 2, 0.5, 1, 1; clipped 1.2, 0.8, 1, 1; the smaller products 1.2, 0.5, 1, 1.
    expectClose(lossOf({ ppo: true }, 1), -(1.2 + 0.5 + 1 + 1), [0, -0.5, -1, -1])
  })

  it('PPO gives no derivative to a bad token that became less likely than the range', () => {
    // Products -2, -0.5, -1, -1; clipped -1.2, -0.8, -1, -1.
    expectClose(lossOf({ ppo: true }, -1), 2 + 0.8 + 1 + 1, [2, 0, 1, 1])
  })

  it('PPO clips by epsilon on both sides unless epsilon_high is set', () => {
    expectClose(lossOf({ ppo: true, epsilon: 0.4 }, 1), -(1.4 + 0.5 + 2), [0, -0.5, -1, -1])
    const both = { ppo: true, epsilon: 0.4, epsilon_high: 3 }
    expectClose(lossOf(both, 1), -(2 + 0.5 + 2), [-2, -0.5, -1, -1])
  })

  it('PPO gives bounded and masked tokens no derivative', () => {
    const bounded = { ppo: true, max_negative_advantage_importance_sampling_weight: 0.9 }
    expectClose(lossOf(bounded, 1), -(0.9 + 0.5 + 0.9 + 0.9), [0, -0.5, 0, 0])
    expectClose(lossOf({ ppo: true, mask_prob_ratio: true }, 1), -(0 + 0 + 1 + 1), [0, 0, -1, -1])
  })

  it('PPO gives every token of a sequence the derivative of its common ratio', () => {
    const config = { ppo: true, importance_sampling_level: 'sequence' } as const
    expectClose(lossOf(config, 1), -4, [-1, -1, -1, -1])
  })
})

describe('the two losses', () => {
  it('CISPO and PPO have the same derivative where every ratio is 1', () => {
    const tokens = { current, sampled: current, advantage: -0.7 }
    const cispo = policyLoss(resolveTrainingConfig(null), tokens)
    const ppo = policyLoss(resolveTrainingConfig({ ppo: true }), tokens)
    expect(ppo.slopes).toEqual(cispo.slopes)
  })
})
