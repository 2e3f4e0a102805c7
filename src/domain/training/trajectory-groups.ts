/** Builds trajectory groups from calls, one after the other. Pure. */
import { ApiError } from '../../errors.ts'
import { Trajectory } from '../../schemas/training/trajectory.ts'
import {
  EXCLUSION_REASONS,
  type ExclusionReason,
  REWARD_PATH_DEFAULT,
  type RolloutUnit,
  type TrajectoriesFromCallsRequest,
  type TrajectoriesFromCallsResponse,
} from '../../schemas/training/trajectory-from-calls.ts'
import { CALL_FIELDS, callField, type ScannedCall } from '../calls/call-fields.ts'
import type { CallTexts } from '../calls/call-view.ts'
import { FEEDBACK_FIELDS } from '../feedback/feedback-view.ts'
import { renderTrainedModelName } from '../models/trained-model-name.ts'
import { parsePath } from '../query/query-expression.ts'
import { valueAt } from '../query/query-values.ts'
import { meanOf } from './advantages.ts'
import {
  evaluateReward,
  parseReward,
  parseRewardPath,
  type RewardExpression,
} from './reward-expression.ts'
import { type ChatHistory, type Policy, readChat } from './rollout.ts'

/** The rules by which rollouts are delimited, rewarded and grouped. */
interface GroupingPlan {
  readonly unit: RolloutUnit
  readonly groupPath: readonly string[]
  readonly reward: RewardExpression
  readonly feedbackType: string
  readonly combine: 'newest' | 'mean'
}

/** Takes calls in any order. */
interface GroupBuilder {
  /** @param feedback - JSON texts of feedback about the call */
  add(call: CallTexts, feedback: readonly string[]): void
  /** @param cut - traces or conversations of which not all calls were added */
  result(cut: ReadonlySet<string>): TrajectoriesFromCallsResponse
}

const FEEDBACK_NAMES: ReadonlySet<string> = new Set(FEEDBACK_FIELDS)

/**
 * Spec: §2.12 trajectory_groups, reward (additions around them).
 *
 * @throws ApiError query_invalid for a path or an expression that is none
 */
export function resolveGroupingPlan(request: TrajectoriesFromCallsRequest): GroupingPlan {
  const { feedback_type, path, expression, combine } = request.reward
  const rules = { fields: FEEDBACK_NAMES, param: 'reward.expression' }
  return {
    unit: request.rollout_by,
    groupPath: parsePath(request.group_by, CALL_FIELDS, 'group_by'),
    reward:
      expression === undefined
        ? parseRewardPath(path ?? REWARD_PATH_DEFAULT, { ...rules, param: 'reward.path' })
        : parseReward(expression, rules),
    feedbackType: feedback_type,
    combine,
  }
}

/** A reward with the time of its feedback. */
interface Score {
  readonly created_at: string
  readonly reward: number
}

/** The state of one rollout. */
interface Rollout {
  readonly chats: {
    readonly startedAtUs: number
    /** The value at the path of the group; null where there is none. */
    readonly groupKey: string | null
    readonly history: ChatHistory
    readonly policy: Policy | null
    readonly callId: string
  }[]
  readonly scores: Score[]
  /** The reason why its calls were no completions; the last one counts. */
  reason: ExclusionReason
}

interface GroupedTrajectory {
  readonly groupKey: string
  readonly trajectory: Trajectory
}

/**
 * Spec: §2.12.
 * Choice: of a rollout of several calls the first chat is the history and the later ones are additional
 * histories; feedback about any of its calls counts. Rollouts without a reward are left out, since a
 * reward of 0 would train on wrong data, and so are those without a value to group by, since they need not
 * be of one task, and those that are cut, since their first chat is not known.
 */
export function createGroupBuilder(plan: GroupingPlan): GroupBuilder {
  const rollouts = new Map<string, Rollout>()
  let calls = 0

  function rolloutOf(call: CallTexts): Rollout {
    const key = (plan.unit === 'call' ? null : call[plan.unit]) ?? `call ${call.id}`
    const rollout = rollouts.get(key) ?? { chats: [], scores: [], reason: 'no_chat' }
    rollouts.set(key, rollout)
    return rollout
  }

  return {
    add(call, feedback) {
      calls += 1
      const scanned: ScannedCall = { call, parsed: {} }
      const rollout = rolloutOf(call)
      const chat = readChat(scanned)
      if (typeof chat === 'string') {
        if (chat !== 'no_chat') rollout.reason = chat
      } else {
        const groupValue = callField(scanned, plan.groupPath) ?? null
        const groupKey = groupValue === null ? null : JSON.stringify(groupValue)
        const { id: callId, started_at_us: startedAtUs } = call
        rollout.chats.push({ ...chat, callId, groupKey, startedAtUs })
      }
      rollout.scores.push(...feedback.flatMap((text) => readScore(text, plan)))
    },
    result(cut) {
      const made = Array.from(rollouts, ([key, rollout]) =>
        cut.has(key) ? 'cut_by_limit' : toTrajectory(rollout, plan),
      )
      return render(made, calls)
    },
  }
}

function readScore(text: string, { feedbackType, reward }: GroupingPlan): Score[] {
  const feedback: unknown = JSON.parse(text)
  if (valueAt(feedback, ['feedback_type']) !== feedbackType) return []
  const number = evaluateReward(reward, (path) => valueAt(feedback, path))
  const created_at = String(valueAt(feedback, ['created_at']))
  return number === null ? [] : [{ created_at, reward: number }]
}

function render(
  rollouts: readonly (GroupedTrajectory | ExclusionReason)[],
  calls: number,
): TrajectoriesFromCallsResponse {
  const groups = new Map<string, Trajectory[]>()
  const excludedCounts = Object.fromEntries(EXCLUSION_REASONS.map((reason) => [reason, 0]))
  let trajectories = 0
  for (const made of rollouts) {
    if (typeof made === 'string') {
      excludedCounts[made] = (excludedCounts[made] ?? 0) + 1
      continue
    }
    trajectories += 1
    const group = groups.get(made.groupKey) ?? []
    group.push(made.trajectory)
    groups.set(made.groupKey, group)
  }
  return {
    trajectory_groups: [...groups.values()].map((group) => ({ trajectories: group })),
    stats: {
      calls,
      groups: groups.size,
      trajectories,
      left_out: excludedCounts as Record<ExclusionReason, number>,
    },
  }
}

function toTrajectory(
  { chats, scores, reason }: Rollout,
  { combine }: GroupingPlan,
): GroupedTrajectory | ExclusionReason {
  const [first, ...later] = chats.toSorted((a, b) => a.startedAtUs - b.startedAtUs)
  if (first === undefined) return reason
  if (first.groupKey === null) return 'no_group'
  const reward = combineScores(scores, combine)
  if (reward === null) return 'no_reward'
  const { policy } = first
  const last = (later.at(-1) ?? first).policy
  const parsed = Trajectory.safeParse({
    ...first.history,
    ...(later.length === 0 ? {} : { additional_histories: later.map(({ history }) => history) }),
    reward,
    initial_policy_version: policy?.step ?? null,
    final_policy_version: last?.name === policy?.name ? (last?.step ?? null) : null,
    metadata: {
      call_id: first.callId,
      ...(policy && { model: renderTrainedModelName(policy.name, policy.step) }),
    },
  })
  return parsed.success ? { groupKey: first.groupKey, trajectory: parsed.data } : 'not_a_trajectory'
}

/** Combines scores; null without any. */
function combineScores(scores: readonly Score[], combine: 'newest' | 'mean'): number | null {
  const sorted = scores.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
  const newest = sorted.at(-1)
  if (newest === undefined || combine === 'newest') return newest?.reward ?? null
  return meanOf(scores.map(({ reward }) => reward))
}

/** Limit: characters of the calls that are read, 32 Mi; their trajectories are sent at once. */
const SOURCE_CHARS_MAX = 32 * 1024 * 1024

/** Counts the characters of calls. @throws ApiError validation_failed (param `limit`) past the limit */
export function createSourceLimit(): (call: CallTexts) => void {
  let chars = 0
  return ({ attributes_json, inputs_json, output_json }) => {
    for (const text of [attributes_json, inputs_json, output_json]) chars += text?.length ?? 0
    if (chars <= SOURCE_CHARS_MAX) return
    const message = `The calls have more than ${SOURCE_CHARS_MAX} characters: ask for fewer.`
    throw new ApiError('validation_failed', { param: 'limit', message })
  }
}
