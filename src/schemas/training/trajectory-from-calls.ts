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
  'no_group',
  'no_reward',
  'not_a_trajectory',
  'cut_by_limit',
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
  })
  .refine(({ path, expression }) => path === undefined || expression === undefined, {
    path: ['path'],
    message: 'must not be given with an expression',
  })
  .meta({ id: 'RewardSource', description: 'The source of rewards.' })

/**
 * Input of `POST /v1/preview/trajectory-groups/from-calls`.
 *
 * Spec: §2.12 (nothing of the spec makes trajectories). Choice: this route.
 */
export const TrajectoriesFromCallsRequest = z
  .strictObject({
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
      "Field of a rollout's first chat call: rollouts with the same value are one group, those without one are left out. Of `trace_id`, `thread_id`, `attributes.episode`, ...",
    ),
    reward: RewardSource,
    limit: z
      .int()
      .min(1)
      .max(SOURCE_CALLS_MAX)
      .default(SOURCE_CALLS_DEFAULT)
      .describe(
        'Maximum number of calls to read, newest first; rollouts with older calls beyond it are left out.',
      ),
  })
  .meta({
    id: 'TrajectoriesFromCallsRequest',
    description: 'Which calls to build trajectories from.',
  })
export type TrajectoriesFromCallsRequest = z.output<typeof TrajectoriesFromCallsRequest>

const count = (what: string) => z.int().describe(what)

export const TrajectoriesFromCallsResponse = z
  .object({
    trajectory_groups: z
      .array(z.looseObject({}))
      .describe('Groups in the format of a training job, in the order of their newest call.'),
    stats: z
      .object({
        calls: count('Calls that were looked at.'),
        groups: count('Groups.'),
        trajectories: count('Rollouts in the groups.'),
        left_out: z
          .object({
            no_chat: count('No chat completion in them.'),
            several_choices: count('A completion with several choices.'),
            unfinished: count('A completion without a finish_reason.'),
            no_group: count('Nothing at group_by.'),
            no_reward: count('No feedback with a reward.'),
            not_a_trajectory: count('Texts that no trajectory may have.'),
            cut_by_limit: count('Older calls beyond the limit.'),
          } satisfies Record<ExclusionReason, z.ZodInt>)
          .describe('Rollouts left out, by reason.'),
      })
      .describe('Numbers of calls, groups and rollouts.'),
  })
  .meta({
    id: 'TrajectoriesFromCallsResponse',
    description: 'Groups, and how many rollouts were left out.',
  })
export type TrajectoriesFromCallsResponse = z.infer<typeof TrajectoriesFromCallsResponse>
