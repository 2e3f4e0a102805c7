/** Computes the weight of each trajectory in a training step from rewards. Pure. */
import { withinDoubles } from '../stats/exact-sum.ts'

/** A trajectory of the batch to be weighed. */
export interface WeighedTrajectory {
  /** Advantage, not 0. */
  readonly advantage: number
  /** Tokens that train, 1 or more. */
  readonly trainableTokens: number
}

/** Weights of each of its tokens. */
interface TokenWeight {
  readonly advantage: number
  /** The mean over all tokens that train is 1. */
  readonly weight: number
}

const STD_FLOOR = 1e-6
/** Exponent of the largest power of two. */
const EXPONENT_MAX = 1023

/**
 * Returns the difference of each rollout's reward to the mean of its group.
 *
 * @param isScaled - whether the differences are divided by the population's standard deviation
 * @returns in the order of the rewards, finite; all exactly 0 when the rewards are equal
 *
 * Spec: §2.12 scale_rewards, reward (formulas not shown).
 * Choice: 1e-6 is added to the deviation, as the published trainer does.
 */
export function groupAdvantages(rewards: readonly number[], isScaled: boolean): number[] {
  const unit = unitOf(rewards)
  const scaled = rewards.map((reward) => reward / unit)
  const mean = plainMean(scaled)
  const size = isScaled ? plainDeviation(scaled) + STD_FLOOR / unit : 1 / unit
  // A reward may be further from the mean than the largest number.
  return scaled.map((reward) => withinDoubles((reward - mean) / size))
}

/** The population's standard deviation; 0 for no numbers. */
export function standardDeviation(values: readonly number[]): number {
  const unit = unitOf(values)
  return withinDoubles(plainDeviation(values.map((value) => value / unit)) * unit)
}

/** The mean; 0 for no numbers. */
export function meanOf(values: readonly number[]): number {
  const unit = unitOf(values)
  return withinDoubles(plainMean(values.map((value) => value / unit)) * unit)
}

/** Returns a power of two, so that a division by it rounds nothing; sums and squares of the quotients are finite. */
function unitOf(values: readonly number[]): number {
  const largest = values.reduce((size, value) => Math.max(size, Math.abs(value)), 1)
  return 2 ** Math.min(EXPONENT_MAX, Math.floor(Math.log2(largest)))
}

function plainMean(values: readonly number[]): number {
  if (values.length === 0) return 0
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  // The mean of equal numbers may differ from them in the last digit.
  const least = values.reduce((left, right) => Math.min(left, right))
  const greatest = values.reduce((left, right) => Math.max(left, right))
  return Math.min(greatest, Math.max(least, mean))
}

function plainDeviation(values: readonly number[]): number {
  const mean = plainMean(values)
  return Math.sqrt(plainMean(values.map((value) => (value - mean) ** 2)))
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
