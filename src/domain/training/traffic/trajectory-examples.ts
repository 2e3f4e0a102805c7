/** Groups as people read them before they train on many. Pure. */
import type { TaskExample } from '../../../schemas/training/training-from-calls.ts'
import type { Trajectory } from '../../../schemas/training/trajectory.ts'
import { renderJson } from '../../json/json-text.ts'
import { meanOf } from '../advantages.ts'
import { choicesByHistory } from '../sampled-choices.ts'
import type { BuiltGroup } from './trajectory-groups.ts'

/** Limits: groups and rollouts that are shown, and characters of a text. */
const GROUPS_SHOWN = 20
const ROLLOUTS_SHOWN = 8
const CHARS_SHOWN = 2_000

/** Returns the first groups, the best rollouts of each first. */
export function renderTaskExamples(groups: readonly BuiltGroup[]): TaskExample[] {
  return groups.slice(0, GROUPS_SHOWN).map(renderTaskExample)
}

function renderTaskExample({ trajectories }: BuiltGroup): TaskExample {
  const best = trajectories.toSorted((one, other) => rewardOf(other) - rewardOf(one))
  const rewards = best.map(rewardOf)
  const [first] = choicesByHistory(best[0] ?? {}).flat()
  return {
    trajectories: best.length,
    lowest_reward: rewards.at(-1) ?? 0,
    mean_reward: meanOf(rewards),
    highest_reward: rewards[0] ?? 0,
    prompt: cut(renderJson((first?.items ?? []).slice(0, first?.contextLength))),
    rollouts: best.slice(0, ROLLOUTS_SHOWN).map((trajectory) => {
      const choices = choicesByHistory(trajectory).flat()
      const responses = choices.map(({ choice }) => choice.message)
      const call_id = trajectory.metadata?.call_id
      return {
        call_id: typeof call_id === 'string' ? call_id : null,
        reward: rewardOf(trajectory),
        response: cut(renderJson(responses.length === 1 ? responses[0] : responses)),
      }
    }),
  }
}

function rewardOf({ reward = 0 }: Trajectory): number {
  return reward
}

function cut(text: string): string {
  return text.length > CHARS_SHOWN ? `${text.slice(0, CHARS_SHOWN)}…` : text
}
