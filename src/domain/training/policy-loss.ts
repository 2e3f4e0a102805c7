/**
 * The loss of one sequence over its tokens' log-probabilities, with its derivative: CISPO or PPO. Pure; independent of
 * the network.
 */
import type { ResolvedTrainingConfig } from './resolve-training-config.ts'

export type LossConfig = Pick<
  ResolvedTrainingConfig,
  | 'ppo'
  | 'epsilon'
  | 'epsilon_high'
  | 'max_negative_advantage_importance_sampling_weight'
  | 'mask_prob_ratio'
  | 'model_k2_tau'
  | 'importance_sampling_level'
>

/** The tokens of one sequence that train. */
interface LossTokens {
  /** Log-probabilities under the weights that are trained. */
  readonly current: readonly number[]
  /** Log-probabilities when they were sampled; NaN where that is not known. As long as `current`. */
  readonly sampled: readonly number[]
  readonly advantage: number
}

/** The loss of a sequence, not yet weighed nor divided by the number of tokens. */
interface SequenceLoss {
  /** Sum over the tokens. */
  readonly loss: number
  /** Derivative of that sum by each of `current`. */
  readonly slopes: readonly number[]
}

/** The probability ratio of a token, with its derivatives by the log-probabilities. */
interface Ratio {
  readonly value: number
  /** Derivative by the token's own logarithm, and by the mean logarithm of its sequence. */
  readonly byOwn: number
  readonly byMean: number
}

/**
 * Computes loss and derivative.
 *
 * - The ratio is exp(current - sampled) of the token; `sequence` takes the exponential of the mean
 *   difference instead, `average` and `geometric_average` the mean of both. Not known: 1.
 * - Then, in this order: an upper bound; 0 for ratios outside (1 - epsilon, 1 + epsilon_high); an
 *   advantage that is lowered by tau times the difference. None of these has a derivative.
 * - CISPO: -clip(ratio) * advantage * current, where the clipped ratio is a constant.
 * - PPO: -min(ratio * advantage, clip(ratio) * advantage).
 *
 * Spec: §2.12 ppo, epsilon, epsilon_high, mask_prob_ratio, model_k2_tau,
 * max_negative_advantage_importance_sampling_weight (formulas not shown).
 * Choice: as the published trainer computes it. The bound holds for every token, not only for those of
 * negative advantage; and CISPO clips a masked ratio back to 1 - epsilon, so that the mask leaves tokens
 * out only where epsilon is 1 or more, as by default.
 */
export function policyLoss(
  config: LossConfig,
  { current, sampled, advantage }: LossTokens,
): SequenceLoss {
  const differences = current.map((value, i) => differenceOf(value, sampled[i] ?? Number.NaN))
  const ratios = ratiosOf(config, differences)
  const low = 1 - config.epsilon
  const high = 1 + config.epsilon_high
  let loss = 0
  let byMean = 0
  const slopes = ratios.map((ratio, i) => {
    const { value, isFree } = limit(config, ratio.value, low, high)
    const pulled = advantage - (config.model_k2_tau ?? 0) * (differences[i] ?? 0)
    const clipped = Math.min(high, Math.max(low, value))
    if (!config.ppo) {
      loss -= clipped * pulled * (current[i] ?? 0)
      return -clipped * pulled
    }
    loss -= Math.min(value * pulled, clipped * pulled)
    // Where the clipped product is the smaller one, it is a constant.
    const slope = isFree && value * pulled <= clipped * pulled ? -pulled : 0
    byMean += slope * ratio.byMean
    return slope * ratio.byOwn
  })
  const shared = byMean / Math.max(1, current.length)
  return { loss, slopes: slopes.map((slope) => slope + shared) }
}

function differenceOf(current: number, sampled: number): number {
  return Number.isNaN(sampled) ? 0 : current - sampled
}

function ratiosOf(
  { importance_sampling_level: level }: LossConfig,
  differences: readonly number[],
): Ratio[] {
  const total = differences.reduce((sum, difference) => sum + difference, 0)
  const whole = Math.exp(total / Math.max(1, differences.length))
  return differences.map((difference) => {
    const own = Math.exp(difference)
    const middle = Math.sqrt(own * whole)
    switch (level) {
      case 'token':
        return { value: own, byOwn: own, byMean: 0 }
      case 'sequence':
        return { value: whole, byOwn: 0, byMean: whole }
      case 'average':
        return { value: (own + whole) / 2, byOwn: own / 2, byMean: whole / 2 }
      case 'geometric_average':
        return { value: middle, byOwn: middle / 2, byMean: middle / 2 }
      default:
        throw new TypeError(`unknown level ${String(level satisfies never)}`)
    }
  })
}

/** Applies the bound and the mask; `isFree`: neither has changed the ratio. */
function limit(
  config: LossConfig,
  ratio: number,
  low: number,
  high: number,
): { readonly value: number; readonly isFree: boolean } {
  const bound = config.max_negative_advantage_importance_sampling_weight ?? Infinity
  const bounded = Math.min(ratio, bound)
  const isMasked = config.mask_prob_ratio && (bounded <= low || bounded >= high)
  return { value: isMasked ? 0 : bounded, isFree: !isMasked && ratio <= bound }
}
