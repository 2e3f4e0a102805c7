/** Builds trajectory groups from calls, one after the other. Pure. */
import { ApiError } from '../../../errors.ts'
import { Trajectory } from '../../../schemas/training/trajectory.ts'
import {
  EXCLUSION_REASONS,
  type ExclusionReason,
  type TrajectoryStats,
} from '../../../schemas/training/trajectory-from-calls.ts'
import { callField, type ScannedCall } from '../../calls/call-fields.ts'
import type { CallTexts } from '../../calls/call-view.ts'
import { renderTrainedModelName } from '../../models/trained-model-name.ts'
import { hasLogprobs } from '../sampled-choices.ts'
import { type GroupingPlan, readScore, type Score, sumRewards } from './grouping-plan.ts'
import { holdOut } from './held-out.ts'
import { isPromptPath, normalizePrompt } from './prompt-key.ts'
import { type ChatHistory, type Policy, readChat } from './rollout.ts'

/** Rollouts of one task. */
export interface BuiltGroup {
  readonly trajectories: readonly Trajectory[]
}

/** The groups of both sides of the split, in the order of their newest call. */
export interface BuiltGroups {
  readonly training: readonly BuiltGroup[]
  readonly heldOut: readonly BuiltGroup[]
  readonly stats: TrajectoryStats
}

/** Takes calls in any order. */
interface GroupBuilder {
  /** @param feedback - JSON texts of feedback about the call */
  add(call: CallTexts, feedback: readonly string[]): void
  /** @param cut - traces or conversations of which not all calls were added */
  result(cut: ReadonlySet<string>): BuiltGroups
}

/** The state of one rollout. */
interface Rollout {
  readonly chats: {
    readonly startedAtUs: number
    /** The value at the path of the group; null where there is none. */
    readonly groupKey: string | null
    /** The messages that were sent, normalized. */
    readonly prompt: string
    readonly history: ChatHistory
    readonly policy: Policy | null
    readonly callId: string
  }[]
  /** By the position of the reward. */
  readonly scores: readonly Score[][]
  /** The reason why its calls were no completions; the last one counts. */
  reason: ExclusionReason
  /** Whether one of its completions may not be used, so that the rollout may not. */
  isBarred: boolean
}

interface GroupedTrajectory {
  readonly groupKey: string
  readonly prompts: readonly string[]
  readonly trajectory: Trajectory
}

/** Reasons for which a rollout is left out even where other completions of it could be used. */
const BARRING: readonly ExclusionReason[] = ['other_model', 'redacted', 'truncated']

/**
 * Spec: §2.12.
 * Choice: of a rollout of several calls the first chat is the history and the later ones are additional
 * histories; feedback about any of its calls counts. Rollouts without a reward are left out, since a
 * reward of 0 would train on wrong data, and so are those without a value to group by, since they need not
 * be of one task, and those that are cut, since their first chat is not known. Messages are one group whatever their
 * case and white space.
 */
export function createGroupBuilder(plan: GroupingPlan): GroupBuilder {
  const rollouts = new Map<string, Rollout>()
  const isByPrompt = isPromptPath(plan.groupPath)
  let calls = 0

  function rolloutOf(call: CallTexts): Rollout {
    const key = (plan.unit === 'call' ? null : call[plan.unit]) ?? `call ${call.id}`
    const known = rollouts.get(key)
    if (known !== undefined) return known
    const scores = plan.rewards.map((): Score[] => [])
    const rollout: Rollout = { chats: [], scores, reason: 'no_chat', isBarred: false }
    rollouts.set(key, rollout)
    return rollout
  }

  return {
    add(call, feedback) {
      calls += 1
      const scanned: ScannedCall = { call, parsed: {} }
      const rollout = rolloutOf(call)
      const chat = readChat(scanned, plan)
      if (typeof chat === 'string') {
        if (chat !== 'no_chat' && !rollout.isBarred) rollout.reason = chat
        rollout.isBarred ||= BARRING.includes(chat)
      } else {
        const prompt = normalizePrompt(chat.history.messages_and_choices.slice(0, -1))
        const groupValue = callField(scanned, plan.groupPath) ?? null
        const plainKey = groupValue === null ? null : JSON.stringify(groupValue)
        const groupKey = isByPrompt ? prompt : plainKey
        const { id: callId, started_at_us: startedAtUs } = call
        rollout.chats.push({ ...chat, callId, groupKey, prompt, startedAtUs })
      }
      const parsed = feedback.map((text): unknown => JSON.parse(text))
      for (const [index, reward] of plan.rewards.entries()) {
        rollout.scores[index]?.push(...parsed.flatMap((one) => readScore(one, reward)))
      }
    },
    result(cut) {
      const made = Array.from(rollouts, ([key, rollout]) =>
        cut.has(key) ? 'cut_by_limit' : toTrajectory(rollout, plan),
      )
      return toGroups(made, calls, plan)
    },
  }
}

function toGroups(
  rollouts: readonly (GroupedTrajectory | ExclusionReason)[],
  calls: number,
  plan: GroupingPlan,
): BuiltGroups {
  const left_out = Object.fromEntries(EXCLUSION_REASONS.map((reason) => [reason, 0])) as Record<
    ExclusionReason,
    number
  >
  const taken: GroupedTrajectory[] = []
  for (const made of rollouts) {
    if (typeof made === 'string') left_out[made] += 1
    else taken.push(made)
  }
  const isHeldOut = holdOut(taken, { share: plan.heldOut, seed: plan.splitSeed })
  const sides = {
    training: new Map<string, Trajectory[]>(),
    heldOut: new Map<string, Trajectory[]>(),
  }
  for (const [index, { groupKey, trajectory }] of taken.entries()) {
    const side = isHeldOut[index] ? sides.heldOut : sides.training
    if (side === sides.training && plan.isTrainableOnly && !hasLogprobs(trajectory)) {
      left_out.no_logprobs += 1
      continue
    }
    const group = side.get(groupKey) ?? []
    group.push(trajectory)
    side.set(groupKey, group)
  }
  const training = [...sides.training.values()].filter((group) => {
    const reason = plan.isTrainableOnly ? findUnteaching(group) : null
    if (reason !== null) left_out[reason] += group.length
    return reason === null
  })
  const heldOut = [...sides.heldOut.values()]
  return {
    training: training.map((trajectories) => ({ trajectories })),
    heldOut: heldOut.map((trajectories) => ({ trajectories })),
    stats: {
      calls,
      groups: training.length,
      trajectories: training.flat().length,
      held_out_groups: heldOut.length,
      held_out_trajectories: heldOut.flat().length,
      left_out,
    },
  }
}

/** Why nothing can be learned from a group. */
function findUnteaching(group: readonly Trajectory[]): 'alone' | 'same_reward' | null {
  if (group.length === 1) return 'alone'
  return group.every(({ reward }) => reward === group[0]?.reward) ? 'same_reward' : null
}

function toTrajectory(
  { chats, scores, reason, isBarred }: Rollout,
  { rewards, charsMax }: GroupingPlan,
): GroupedTrajectory | ExclusionReason {
  const [first, ...later] = chats.toSorted((a, b) => a.startedAtUs - b.startedAtUs)
  if (first === undefined || isBarred) return reason
  if (countChars(chats) > charsMax) return 'too_long'
  if (first.groupKey === null) return 'no_group'
  const reward = sumRewards(scores, rewards)
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
  if (!parsed.success) return 'not_a_trajectory'
  const prompts = chats.map(({ prompt }) => prompt)
  return { groupKey: first.groupKey, prompts, trajectory: parsed.data }
}

/** Returns the characters of all messages as JSON, without log probabilities. */
function countChars(chats: Rollout['chats']): number {
  const messages = chats.flatMap(({ history }) => history.messages_and_choices)
  const texts = messages.map((item) => JSON.stringify(item.message ?? item))
  return texts.reduce((sum, { length }) => sum + length, 0)
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
