/** The settings of a training step with their defaults filled in. Pure. */
import type { z } from 'zod'
import type { ExperimentalConfig } from '../../schemas/training/training-job.ts'

type ImportanceSamplingLevel = 'token' | 'sequence' | 'average' | 'geometric_average'

/** Settings of one step; null stands for "not applied". Names are those of the interface. */
export interface ResolvedTrainingConfig {
  /** -1..1. */
  readonly advantage_balance: number
  /** Lower clip width, >= 0. */
  readonly epsilon: number
  /** Upper clip width, >= 0. */
  readonly epsilon_high: number
  readonly importance_sampling_level: ImportanceSamplingLevel
  /** > 0. */
  readonly learning_rate: number
  readonly mask_prob_ratio: boolean
  /** Upper bound of the probability ratio, > 0. */
  readonly max_negative_advantage_importance_sampling_weight: number | null
  /** > 0. */
  readonly model_k2_tau: number | null
  readonly ppo: boolean
  readonly precalculate_logprobs: boolean
  readonly scale_rewards: boolean
}

/**
 * Fills in defaults.
 *
 * @param config - validated, as sent; null or absent: all defaults
 * @returns the settings, after them the keys that have no meaning here, as they were sent
 *
 * Spec: §2.12 experimental_config (defaults not shown).
 * Choice: the defaults of the published trainer; null and, for the bound and the pull, 0 mean unset.
 * kimi_k2_tau is the name by which its clients send model_k2_tau.
 */
export function resolveTrainingConfig(
  config: z.infer<typeof ExperimentalConfig> | null | undefined,
): ResolvedTrainingConfig {
  const sent = config ?? {}
  const ppo = sent.ppo ?? false
  const epsilon = sent.epsilon ?? (ppo ? 0.2 : 1)
  const known: ResolvedTrainingConfig = {
    advantage_balance: sent.advantage_balance ?? 0,
    epsilon,
    epsilon_high: sent.epsilon_high ?? (ppo ? epsilon : 4),
    importance_sampling_level: sent.importance_sampling_level ?? 'token',
    learning_rate: sent.learning_rate ?? 5e-6,
    mask_prob_ratio: sent.mask_prob_ratio ?? false,
    max_negative_advantage_importance_sampling_weight:
      sent.max_negative_advantage_importance_sampling_weight || null,
    model_k2_tau: (sent.model_k2_tau ?? sent.kimi_k2_tau) || null,
    ppo,
    precalculate_logprobs: sent.precalculate_logprobs ?? false,
    scale_rewards: sent.scale_rewards ?? true,
  }
  const unknown = Object.entries(sent).filter(
    ([key, value]) => !Object.hasOwn(known, key) && key !== 'kimi_k2_tau' && value !== null,
  )
  return { ...known, ...Object.fromEntries(unknown) }
}
