/** Whether one model does better than another on the same prompts. Pure. */
import { meanOf } from './advantages.ts'

/** Rounds of the bootstrap and of the test by chance. */
const ROUNDS = 2_000
/** Rounds outside of the interval, on each side: it covers 95 %. */
const ROUNDS_OUTSIDE = 50

/** The difference of two models, over prompts. */
interface RewardDifference {
  /** Prompts with a reward of both. */
  readonly prompts: number
  /** Mean reward of the candidate less that of the baseline; null without prompts. */
  readonly mean: number | null
  /** Bounds of the 95 % interval; null with fewer than two prompts. */
  readonly low: number | null
  readonly high: number | null
  /**
   * How often a difference as large comes about by chance: share of the rounds in which the models of each prompt change
   * places at random. null with fewer than two prompts.
   */
  readonly p_value: number | null
}

/**
 * Compares the mean rewards of two models by prompt. Prompts are what is drawn anew, since responses to one prompt are
 * alike: intervals over responses would be too narrow.
 *
 * @param pairs - mean reward of baseline and candidate by prompt
 * @param next - returns random numbers in [0, 1)
 */
export function compareRewards(
  pairs: readonly { readonly baseline: number; readonly candidate: number }[],
  next: () => number,
): RewardDifference {
  const differences = pairs.map(({ baseline, candidate }) => candidate - baseline)
  const prompts = differences.length
  if (prompts === 0) return { prompts, mean: null, low: null, high: null, p_value: null }
  const mean = meanOf(differences)
  if (prompts === 1) return { prompts, mean, low: null, high: null, p_value: null }
  const means = new Float64Array(ROUNDS)
  let asLarge = 0
  for (let round = 0; round < ROUNDS; round++) {
    let drawn = 0
    let shuffled = 0
    for (let index = 0; index < prompts; index++) {
      const draw = next() * prompts
      const slot = Math.floor(draw)
      drawn += differences[slot] ?? 0
      const one = differences[index] ?? 0
      // What is left of the draw is as random.
      shuffled += draw - slot < 0.5 ? one : -one
    }
    means[round] = drawn / prompts
    // Sums of the same numbers differ by what is rounded.
    if (Math.abs(shuffled / prompts) >= Math.abs(mean) * (1 - 1e-9)) asLarge += 1
  }
  means.sort()
  const low = means[ROUNDS_OUTSIDE] ?? mean
  const high = means[ROUNDS - 1 - ROUNDS_OUTSIDE] ?? mean
  // The arrangement that was seen is one of those by chance, so that no result is impossible by it.
  const p_value = (asLarge + 1) / (ROUNDS + 1)
  return { prompts, mean, low, high, p_value }
}
