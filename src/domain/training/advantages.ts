/** Computes the weight of each trajectory in a training step from rewards. Pure. */

/** What a trajectory of the batch brings. */
export interface WeighedTrajectory {
  /** Not 0. */
  readonly advantage: number
  /** Tokens that train, 1 or more. */
  readonly trainableTokens: number
}

/** What each of its tokens counts. */
interface TokenWeight {
  readonly advantage: number
  /** The mean over all tokens that train is 1. */
  readonly weight: number
}

const STD_FLOOR = 1e-6

/**
 * How much better each rollout of a group is than the group's mean.
 *
 * @param isScaled - whether the differences are divided by the population's standard deviation
 * @returns in the order of the rewards; all exactly 0 when the rewards are equal
 *
 * Spec: §2.12 scale_rewards, reward (formulas not shown).
 * Choice: 1e-6 is added to the deviation, as the published trainer does.
 */
export function groupAdvantages(rewards: readonly number[], isScaled: boolean): number[] {
  const [first] = rewards
  // The mean of equal numbers may differ from them in the last digit.
  if (rewards.every((reward) => reward === first)) return rewards.map(() => 0)
  const mean = meanOf(rewards)
  const scale = isScaled ? standardDeviation(rewards) + STD_FLOOR : 1
  return rewards.map((reward) => (reward - mean) / scale)
}

/** The population's standard deviation; 0 for no numbers. */
export function standardDeviation(values: readonly number[]): number {
  const mean = meanOf(values)
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)))
}

/** The mean; 0 for no numbers. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/**
 * Balances the advantages of a batch and brings their mean size over all tokens to 1, each trajectory
 * counting the same however long it is.
 *
 * @param balance - -1..1; above 0 it shrinks bad rollouts, below 0 good ones
 * @returns in the order of the trajectories; advantages are all 0 when nothing is left of them
 *
 * Spec: §2.12 advantage_balance (formula not shown).
 * Choice: weights are those of the published trainer, so the size of rewards cancels out.
 */
export function weighBatch(
  trajectories: readonly WeighedTrajectory[],
  balance: number,
): TokenWeight[] {
  const tokens = trajectories.reduce((sum, { trainableTokens }) => sum + trainableTokens, 0)
  const balanced = trajectories.map(({ advantage }) => balanceAdvantage(advantage, balance))
  const size = meanOf(balanced.map(Math.abs))
  return trajectories.map(({ trainableTokens }, place) => ({
    advantage: size === 0 ? 0 : (balanced[place] ?? 0) / size,
    weight: tokens / (trajectories.length * trainableTokens),
  }))
}

function balanceAdvantage(advantage: number, balance: number): number {
  if (balance > 0 && advantage <= 0) return advantage * (1 - balance)
  if (balance < 0 && advantage >= 0) return advantage * (1 + balance)
  return advantage
}
