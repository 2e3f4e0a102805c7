/** The split of rollouts into those to train on and those that are held out. Pure. */
import { hashFraction } from '../../stats/hash-fraction.ts'

interface Splittable {
  readonly groupKey: string
  /** Normalized. */
  readonly prompts: readonly string[]
}

/**
 * Returns for each rollout whether it is held out.
 *
 * Spec: §2.12 trajectory_groups (no split). Choice: the side depends on the seed and the prompt alone, so that further calls
 * do not move it. Rollouts that share a group or a prompt, also by way of others, are on the side of the prompt with the
 * lowest digest: no prompt is on both. Rollouts that further calls join can become held out, but never the reverse.
 *
 * @param share - of prompts that are held out, 0 to 1; a greater one holds out the same prompts and more
 */
export function holdOut(
  rollouts: readonly Splittable[],
  { share, seed }: { readonly share: number; readonly seed: number },
): boolean[] {
  if (share === 0) return rollouts.map(() => false)
  const parents = new Map<string, string>()

  function rootOf(key: string): string {
    let root = key
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next
    for (let at = key; at !== root; ) {
      const next = parents.get(at) ?? root
      parents.set(at, root)
      at = next
    }
    return root
  }

  const keysOf = ({ groupKey, prompts }: Splittable) => [`group ${groupKey}`, ...prompts]
  for (const rollout of rollouts) {
    const [first = '', ...others] = keysOf(rollout)
    for (const key of others) {
      const [one, other] = [rootOf(first), rootOf(key)]
      if (one !== other) parents.set(other, one)
    }
  }
  const lowest = new Map<string, number>()
  for (const { groupKey, prompts } of rollouts) {
    const root = rootOf(`group ${groupKey}`)
    const fractions = prompts.map((prompt) => hashFraction(`${seed} ${prompt}`))
    lowest.set(root, Math.min(lowest.get(root) ?? 1, ...fractions))
  }
  return rollouts.map(({ groupKey }) => (lowest.get(rootOf(`group ${groupKey}`)) ?? 1) < share)
}
