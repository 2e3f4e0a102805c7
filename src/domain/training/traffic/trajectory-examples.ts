/** One group as people read it before they train on many. Pure. */

import type { TaskExample } from '../../../schemas/training/training-from-calls.ts'
import type { Trajectory } from '../../../schemas/training/trajectory.ts'
import { renderJson } from '../../json/json-text.ts'
import { choicesByHistory } from '../sampled-choices.ts'
import type { BuiltGroup } from './trajectory-groups.ts'

/** Limits: rollouts that are shown, and characters of a text. */
const ROLLOUTS_SHOWN = 8
const CHARS_SHOWN = 2_000

/** Returns the first group, its best rollouts first; null: there is none. */
export function renderTaskExample([group]: readonly BuiltGroup[]): TaskExample | null {
  if (group === undefined) return null
  const best = group.trajectories.toSorted((one, other) => rewardOf(other) - rewardOf(one))
  const [first] = choicesByHistory(best[0] ?? {}).flat()
  return {
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
