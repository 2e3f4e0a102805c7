/** Trajectory groups built from recorded calls, an addition to the spec. Spec: §2.12 trajectory_groups. */
import { z } from 'zod'
import { ruleError } from '../bounded-fields.ts'
import { CallsFilter } from '../calls/calls-filter.ts'
import { ProjectId } from '../primitives.ts'
import { FieldPath, Query } from '../query/query-expression.ts'

/** Limit: calls that are read. */
const SOURCE_CALLS_MAX = 10_000
const SOURCE_CALLS_DEFAULT = 1_000
const TYPE_CHARS_MAX = 256
/** Limits: types of feedback that make one reward, and names of models. */
const REWARDS_MAX = 32
const MODELS_MAX = 100
const MODEL_CHARS_MAX = 512
/** Limits: share of prompts that is held out, seed of the split. */
export const HELD_OUT_MAX = 0.9
export const SEED_MAX = 2 ** 32 - 1
/** Share of jobs and of comparisons, which must be the same. */
export const HELD_OUT_DEFAULT = 0.2

/** Unit of one rollout: a call alone, or the calls of a trace or of a conversation (`thread_id`). */
const ROLLOUT_UNITS = ['call', 'trace_id', 'thread_id'] as const
export type RolloutUnit = (typeof ROLLOUT_UNITS)[number]

/** Combinations of several feedbacks about one rollout. */
const COMBINATIONS = ['newest', 'mean'] as const

/** Reasons for which a rollout is left out of the groups. */
export const EXCLUSION_REASONS = [
  'no_chat',
  'several_choices',
  'unfinished',
  'other_model',
  'redacted',
  'truncated',
  'too_long',
  'no_group',
  'no_reward',
  'not_a_trajectory',
  'cut_by_limit',
  'no_logprobs',
  'alone',
  'same_reward',
] as const
export type ExclusionReason = (typeof EXCLUSION_REASONS)[number]

/** Default path of a reward. */
export const REWARD_PATH_DEFAULT = 'payload.score'

const RewardSource = z
  .strictObject({
    feedback_type: z
      .string()
      .min(1, 'must not be empty')
      .max(TYPE_CHARS_MAX)
      .describe('Type of the feedback that holds the reward.'),
    path: FieldPath.optional().meta({
      description:
        'Field of the feedback that is the reward: a number, or a boolean as 1 and 0. Not with expression.',
      default: REWARD_PATH_DEFAULT,
    }),
    expression: z
      .unknown()
      .optional()
      .describe(
        'The reward as an operation: `$add` `$subtract` `$multiply` `$divide` `$min` `$max` (lists of operands), `$cond` ' +
          '`[condition, then, else]`, or an operation of a query; `{"$getField": "payload.score"}` reads the feedback.',
      ),
    combine: z
      .enum(COMBINATIONS, ruleError(`one of ${COMBINATIONS.join(', ')}`))
      .default('newest')
      .describe('How several feedbacks on one rollout are combined.'),
    weight: z.number().default(1).describe('Factor of this reward in the sum of several.'),
    missing: z
      .number()
      .nullish()
      .describe('Reward of rollouts without such feedback; by default they are left out.'),
  })
  .refine(({ path, expression }) => path === undefined || expression === undefined, {
    path: ['path'],
    message: 'must not be given with an expression',
  })
  .meta({ id: 'RewardSource', description: 'The source of rewards.' })

/** Which calls become rollouts, with which rewards, and which prompts are held out. */
export const TRAJECTORY_SOURCE = {
  project_id: ProjectId,
  filter: CallsFilter.nullish().describe('Which calls; all when absent.'),
  query: Query.nullish().describe('A further condition on the calls.'),
  rollout_by: z
    .enum(ROLLOUT_UNITS, ruleError(`one of ${ROLLOUT_UNITS.join(', ')}`))
    .default('call')
    .describe(
      'What one rollout is: a call, or all selected calls of a trace or conversation, whose later chats become additional_histories.',
    ),
  group_by: FieldPath.default('inputs.messages').describe(
    "Field of a rollout's first chat call: rollouts with the same value are one group, those without one are left out. Messages are the same whatever their case and white space. Of `trace_id`, `thread_id`, `attributes.episode`, ...",
  ),
  reward: z
    .union([RewardSource, z.array(RewardSource).min(1).max(REWARDS_MAX)])
    .describe('The reward of a rollout; of a list the sum of its rewards, each times its weight.'),
  models: z
    .array(z.string().min(1, 'must not be empty').max(MODEL_CHARS_MAX))
    .min(1, 'must not be empty')
    .max(MODELS_MAX)
    .nullish()
    .describe(
      'Models whose rollouts are taken; the name of a trained model stands for all its steps. Default: all.',
    ),
  chars_max: z
    .int()
    .min(1)
    .nullish()
    .describe('Maximum characters of the messages of a rollout as JSON. Default: any.'),
  truncated: z
    .enum(['take', 'leave_out'], ruleError('one of take, leave_out'))
    .default('take')
    .describe('What happens to rollouts with a response that ended at its token limit.'),
  held_out: z
    .number()
    .min(0)
    .max(HELD_OUT_MAX)
    .default(0)
    .describe(
      'Share of the prompts that is held out, chosen by a hash of the prompt without regard to case and white space: the same ones each time. Groups that share a prompt are on the same side.',
    ),
  split_seed: z.int().min(0).max(SEED_MAX).default(0).describe('Another seed, another split.'),
  limit: z
    .int()
    .min(1)
    .max(SOURCE_CALLS_MAX)
    .default(SOURCE_CALLS_DEFAULT)
    .describe(
      'Maximum number of calls to read, newest first; rollouts with older calls beyond it are left out.',
    ),
}

/** Which side of the split is meant. */
export const SplitPart = z
  .enum(['training', 'held_out'], ruleError('one of training, held_out'))
  .default('training')
  .describe('The prompts to train on, or those that are held out.')

const source = z.object(TRAJECTORY_SOURCE)
export type TrajectorySource = z.output<typeof source>

/**
 * Input of `POST /v1/preview/trajectory-groups/from-calls`.
 *
 * Spec: §2.12 (nothing of the spec makes trajectories). Choice: this route.
 */
export const TrajectoriesFromCallsRequest = z
  .strictObject({
    ...TRAJECTORY_SOURCE,
    part: SplitPart,
    trainable_only: z
      .boolean()
      .default(false)
      .describe(
        'Whether to leave out what a training job learns nothing from: rollouts without log probabilities, alone in their group, or in a group of equal rewards.',
      ),
  })
  .meta({
    id: 'TrajectoriesFromCallsRequest',
    description: 'Which calls to build trajectories from.',
  })
export type TrajectoriesFromCallsRequest = z.output<typeof TrajectoriesFromCallsRequest>

const count = (what: string) => z.int().describe(what)

const LeftOut = z
  .object({
    no_chat: count('No chat completion in them.'),
    several_choices: count('A completion with several choices.'),
    unfinished: count('A completion without a finish_reason.'),
    other_model: count('A completion of a model that is not in models.'),
    redacted: count(
      'A call in which something was redacted: its texts are not those of the model.',
    ),
    truncated: count('A response that ended at its token limit, where these are left out.'),
    too_long: count('More characters than chars_max.'),
    no_group: count('Nothing at group_by.'),
    no_reward: count('No feedback with a reward.'),
    not_a_trajectory: count('Texts that no trajectory may have.'),
    cut_by_limit: count('Older calls beyond the limit.'),
    no_logprobs: count('No log probabilities, with trainable_only.'),
    alone: count('Alone in their group, with trainable_only.'),
    same_reward: count('In a group of equal rewards, with trainable_only.'),
  } satisfies Record<ExclusionReason, z.ZodInt>)
  .describe('Rollouts left out, by reason.')

export const TrajectoryStats = z
  .object({
    calls: count('Calls that were looked at.'),
    groups: count('Groups.'),
    trajectories: count('Rollouts in the groups.'),
    held_out_groups: count(
      'Groups on the other side of the split, or that are asked for as held out.',
    ),
    held_out_trajectories: count('Rollouts in these.'),
    left_out: LeftOut,
  })
  .meta({ id: 'TrajectoryStats', description: 'Numbers of calls, groups and rollouts.' })
export type TrajectoryStats = z.infer<typeof TrajectoryStats>

export const TrajectoriesFromCallsResponse = z
  .object({
    trajectory_groups: z
      .array(z.looseObject({}))
      .describe('Groups in the format of a training job, in the order of their newest call.'),
    stats: TrajectoryStats.describe('Numbers of calls, groups and rollouts.'),
  })
  .meta({
    id: 'TrajectoriesFromCallsResponse',
    description: 'Groups, and how many rollouts were left out.',
  })
export type TrajectoriesFromCallsResponse = z.infer<typeof TrajectoriesFromCallsResponse>
