/** Training jobs on the wire. Spec: §2.12, §4.8. */
import { z } from 'zod'
import { boundedList, boundedNumber, flag, optionalField, ruleError } from '../bounded-fields.ts'
import { Time } from '../primitives.ts'
import { Trajectory } from './trajectory.ts'

/** Limit: groups of one job, and trajectories of one group; real jobs have tens of each. */
const TRAJECTORY_GROUPS_MAX = 10_000
const GROUP_TRAJECTORIES_MAX = 10_000
const CONFIG_KEYS_MAX = 100

/** States of a job. Spec: §3 (no states are given). Choice: these five; the last three are final. */
export const TRAINING_JOB_STATES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const
export type TrainingJobState = (typeof TRAINING_JOB_STATES)[number]

const IMPORTANCE_SAMPLING_LEVELS = ['token', 'sequence', 'average', 'geometric_average'] as const

/** Rollouts of the same task, which are compared with each other. Spec: §2.12 trajectory_groups. */
export const TrajectoryGroup = z
  .looseObject(
    {
      trajectories: boundedList(Trajectory, { max: GROUP_TRAJECTORIES_MAX })
        .optional()
        .describe('Rollouts of the same task; empty or absent when all of them failed.'),
    },
    ruleError('an object with trajectories'),
  )
  .meta({ id: 'TrajectoryGroup', description: 'Rollouts of the same task.' })
export type TrajectoryGroup = z.infer<typeof TrajectoryGroup>

const fromZero = () => boundedNumber('a finite number from 0', { min: 0 })

/**
 * Settings of the training step.
 *
 * Spec: §2.12 experimental_config (types only).
 * Choice: null means the default; ranges outside which the formulas make no sense are refused;
 * unknown keys are retained, because clients send more than the spec names.
 */
export const ExperimentalConfig = z
  .looseObject(
    {
      advantage_balance: optionalField(
        boundedNumber('a finite number from -1 to 1', { min: -1, max: 1 }),
        'Weight of good against bad rollouts: 1 trains on good ones only, -1 on bad ones only.',
        0,
      ),
      epsilon: optionalField(
        fromZero(),
        'Lower width of the clip range of the probability ratio. Default 1.0, with ppo 0.2.',
      ),
      epsilon_high: optionalField(
        fromZero(),
        'Upper width of the clip range. Default 4.0, with ppo the same as epsilon.',
      ),
      model_k2_tau: optionalField(
        fromZero(),
        'Strength of the pull back to the sampling policy; 0 is the same as unset.',
      ),
      kimi_k2_tau: optionalField(
        fromZero(),
        'How published training clients spell model_k2_tau; counts where that is not given (addition to the spec).',
      ),
      importance_sampling_level: optionalField(
        z.enum(
          IMPORTANCE_SAMPLING_LEVELS,
          ruleError(`one of ${IMPORTANCE_SAMPLING_LEVELS.join(', ')}`),
        ),
        'Over what probability ratios are taken (addition to the spec).',
        'token',
      ),
      learning_rate: optionalField(
        boundedNumber('a finite number above 0', { above: 0 }),
        'Step size of the optimizer.',
        5e-6,
      ),
      mask_prob_ratio: optionalField(
        flag(),
        'Whether tokens outside of the clip range are left out.',
        false,
      ),
      max_negative_advantage_importance_sampling_weight: optionalField(
        boundedNumber('a finite number above 0', { above: 0 }),
        'Upper bound of the probability ratio; unset: none.',
      ),
      ppo: optionalField(flag(), 'Whether the loss is that of PPO instead of CISPO.', false),
      precalculate_logprobs: optionalField(
        flag(),
        'Whether old log probabilities are computed anew before the first step.',
        false,
      ),
      scale_rewards: optionalField(
        flag(),
        "Whether rewards are divided by their group's standard deviation.",
        true,
      ),
    },
    ruleError('an object or null'),
  )
  .refine(
    (config) => Object.keys(config).length <= CONFIG_KEYS_MAX,
    `must have at most ${CONFIG_KEYS_MAX} keys`,
  )
  .meta({ id: 'ExperimentalConfig', description: 'Settings of a training step.' })

/**
 * Input of `POST /v1/preview/training-jobs`.
 *
 * Spec: §2.12, §4.8. Choice: at least one group, because a job without any has nothing to do.
 */
export const TrainingJobCreateRequest = z
  .strictObject({
    model_id: z.guid('must be a UUID').describe('Model to train.'),
    trajectory_groups: boundedList(TrajectoryGroup, {
      min: 1,
      max: TRAJECTORY_GROUPS_MAX,
    }).describe('What to train on.'),
    experimental_config: ExperimentalConfig.nullish().describe(
      'Settings of the training step; null or absent: all defaults.',
    ),
  })
  .meta({ id: 'TrainingJobCreateRequest', description: 'A training step on rollouts.' })
export type TrainingJobCreateRequest = z.infer<typeof TrainingJobCreateRequest>

/**
 * Headers of `POST /v1/preview/training-jobs`. All pass: domain/training/idempotency-key.ts checks `idempotency-key`,
 * so that a bad header is reported as such and not as a bad body.
 *
 * Spec: §4.8 (no such header). Choice: offered, never required.
 */
export const TrainingJobCreateHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .optional()
    .describe('1 to 255 visible ASCII characters; the same key and body create one job.'),
})

/**
 * Spec: §4.8 (response not shown).
 * Choice: the id, which is all that training clients read, and what is known of the job besides.
 */
export const TrainingJobResponse = z
  .object({
    id: z.string().meta({ description: 'Id of the job.', format: 'uuid' }),
    status: z.enum(TRAINING_JOB_STATES).describe('State of the job; a new one is queued.'),
    model_id: z.string().describe('Model that it trains.'),
    created_at: Time.describe('When it was accepted, UTC.'),
  })
  .meta({ id: 'TrainingJobResponse', description: 'An accepted training job.' })
export type TrainingJobResponse = z.infer<typeof TrainingJobResponse>
