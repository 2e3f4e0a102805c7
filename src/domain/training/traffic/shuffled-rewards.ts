/** The control of training: the same rollouts with rewards that mean nothing. Pure. */
import { hashFraction } from '../../stats/hash-fraction.ts'
import type { BuiltGroup } from './trajectory-groups.ts'

/**
 * Returns the groups with the rewards of each dealt out anew among its rollouts. What a model learns from them is no
 * effect of the rewards.
 *
 * @param seed - null: the groups as they are
 */
export function shuffleRewards(
  groups: readonly BuiltGroup[],
  seed: number | null,
): readonly BuiltGroup[] {
  if (seed === null) return groups
  return groups.map(({ trajectories }, group) => {
    const order = trajectories
      .map(({ reward }, index) => ({ reward, rank: hashFraction(`${seed} ${group} ${index}`) }))
      .toSorted((one, other) => one.rank - other.rank)
    return {
      trajectories: trajectories.map((trajectory, index) => ({
        ...trajectory,
        reward: order[index]?.reward,
      })),
    }
  })
}
