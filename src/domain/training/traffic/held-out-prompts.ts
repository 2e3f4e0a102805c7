/** The prompts of held-out rollouts, to ask models again. Pure. */
import { hashFraction } from '../../stats/hash-fraction.ts'
import { choicesByHistory } from '../sampled-choices.ts'
import { normalizePrompt } from './prompt-key.ts'
import type { BuiltGroup } from './trajectory-groups.ts'

export interface HeldOutPrompt {
  readonly messages: readonly Readonly<Record<string, unknown>>[]
  readonly tools?: unknown
}

/**
 * Returns each prompt once, in an order that depends on the seed and the prompts alone.
 *
 * @param max - how many are taken of that order
 */
export function listHeldOutPrompts(
  groups: readonly BuiltGroup[],
  { max, seed }: { readonly max: number; readonly seed: number },
): HeldOutPrompt[] {
  const prompts = new Map<string, HeldOutPrompt>()
  for (const trajectory of groups.flatMap((group) => group.trajectories)) {
    const [first] = choicesByHistory(trajectory).flat()
    if (first === undefined) continue
    const messages = first.items.slice(0, first.contextLength)
    const tools = Array.isArray(first.tools) ? { tools: first.tools } : {}
    prompts.set(normalizePrompt(messages), { messages, ...tools })
  }
  const ranked = Array.from(prompts, ([key, prompt]) => ({
    prompt,
    rank: hashFraction(`${seed} order ${key}`),
  }))
  const sorted = ranked.toSorted((one, other) => one.rank - other.rank)
  return sorted.slice(0, max).map(({ prompt }) => prompt)
}
