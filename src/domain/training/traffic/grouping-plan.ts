/** The rules of a request for rollouts: how they are delimited, rewarded, grouped and split. Pure. */
import {
  REWARD_PATH_DEFAULT,
  type RolloutUnit,
  type TrajectorySource,
} from '../../../schemas/training/trajectory-from-calls.ts'
import { CALL_FIELDS } from '../../calls/call-fields.ts'
import { FEEDBACK_FIELDS } from '../../feedback/feedback-view.ts'
import { parsePath } from '../../query/query-expression.ts'
import { valueAt } from '../../query/query-values.ts'
import { meanOf } from '../advantages.ts'
import {
  evaluateReward,
  parseReward,
  parseRewardPath,
  type RewardExpression,
} from './reward-expression.ts'
import type { RolloutRules } from './rollout.ts'

/** One of the rewards that are added up. */
interface RewardPlan {
  readonly reward: RewardExpression
  readonly feedbackType: string
  readonly combine: 'newest' | 'mean'
  readonly weight: number
  /** Reward without such feedback; null: there is none. */
  readonly missing: number | null
}

/** The rules by which rollouts are delimited, rewarded, grouped and split. */
export interface GroupingPlan extends RolloutRules {
  readonly unit: RolloutUnit
  readonly groupPath: readonly string[]
  readonly rewards: readonly RewardPlan[]
  /** Of the messages of a rollout as JSON. */
  readonly charsMax: number
  /** Whether what teaches nothing is left out of the training side. */
  readonly isTrainableOnly: boolean
  /** Share of the prompts, 0 to 1. */
  readonly heldOut: number
  readonly splitSeed: number
}

const FEEDBACK_NAMES: ReadonlySet<string> = new Set(FEEDBACK_FIELDS)

/**
 * Spec: §2.12 trajectory_groups, reward (additions around them).
 *
 * @throws ApiError query_invalid for a path or an expression that is none
 */
export function resolveGroupingPlan(
  request: TrajectorySource,
  isTrainableOnly: boolean,
): GroupingPlan {
  const { reward, models, chars_max, held_out, split_seed } = request
  return {
    unit: request.rollout_by,
    groupPath: parsePath(request.group_by, CALL_FIELDS, 'group_by'),
    rewards: Array.isArray(reward)
      ? reward.map((one, index) => resolveReward(one, `reward[${index}]`))
      : [resolveReward(reward, 'reward')],
    models: models ?? null,
    takesTruncated: request.truncated === 'take',
    charsMax: chars_max ?? Number.POSITIVE_INFINITY,
    isTrainableOnly,
    heldOut: held_out,
    splitSeed: split_seed,
  }
}

type RewardSource = Exclude<TrajectorySource['reward'], readonly unknown[]>

function resolveReward(source: RewardSource, param: string): RewardPlan {
  const { feedback_type, path, expression, combine, weight, missing } = source
  const fields = FEEDBACK_NAMES
  return {
    reward:
      expression === undefined
        ? parseRewardPath(path ?? REWARD_PATH_DEFAULT, { fields, param: `${param}.path` })
        : parseReward(expression, { fields, param: `${param}.expression` }),
    feedbackType: feedback_type,
    combine,
    weight,
    missing: missing ?? null,
  }
}

/** A reward with the time of its feedback. */
export interface Score {
  readonly created_at: string
  readonly reward: number
}

/** Returns what a feedback says of a reward: one score or none. */
export function readScore(feedback: unknown, { feedbackType, reward }: RewardPlan): Score[] {
  if (valueAt(feedback, ['feedback_type']) !== feedbackType) return []
  const number = evaluateReward(reward, (path) => valueAt(feedback, path))
  const created_at = String(valueAt(feedback, ['created_at']))
  return number === null ? [] : [{ created_at, reward: number }]
}

/** Returns the weighted sum; null where a reward has no feedback, or the sum is no finite number. */
export function sumRewards(
  scores: readonly (readonly Score[])[],
  rewards: readonly RewardPlan[],
): number | null {
  let sum = 0
  for (const [index, { combine, weight, missing }] of rewards.entries()) {
    const value = combineScores(scores[index] ?? [], combine) ?? missing
    if (value === null) return null
    sum += weight * value
  }
  return Number.isFinite(sum) ? sum : null
}

/** Combines scores; null without any. */
function combineScores(scores: readonly Score[], combine: 'newest' | 'mean'): number | null {
  const sorted = scores.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
  const newest = sorted.at(-1)
  if (newest === undefined || combine === 'newest') return newest?.reward ?? null
  return meanOf(scores.map(({ reward }) => reward))
}
