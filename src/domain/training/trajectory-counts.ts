/** Counts the contents of a training job. Pure. */

import type { TrajectoryGroup } from '../../schemas/training/training-job.ts'
import type { Trajectory } from '../../schemas/training/trajectory.ts'
import { isTrajectoryChoice } from '../../schemas/training/trajectory-choice.ts'

export interface TrajectoryCounts {
  readonly group_count: number
  readonly trajectory_count: number
  /** Trajectories with at least one choice, in any of their histories: the others can train nothing. */
  readonly trainable_count: number
  /** The lowest initial_policy_version of all trajectories; null when none has one. */
  readonly oldest_policy_version: number | null
}

/** Counts groups and trajectories. Spec: §2.12 trajectory_groups. */
export function countTrajectories(groups: readonly TrajectoryGroup[]): TrajectoryCounts {
  const trajectories = groups.flatMap((group) => group.trajectories)
  return {
    group_count: groups.length,
    trajectory_count: trajectories.length,
    trainable_count: trajectories.filter(hasChoice).length,
    oldest_policy_version: oldestOf(trajectories),
  }
}

function oldestOf(trajectories: readonly Trajectory[]): number | null {
  let oldest: number | null = null
  for (const { initial_policy_version: version } of trajectories) {
    if (typeof version === 'number' && (oldest === null || version < oldest)) oldest = version
  }
  return oldest
}

function hasChoice(trajectory: Trajectory): boolean {
  const histories = [trajectory, ...(trajectory.additional_histories ?? [])]
  return histories.some((history) => history.messages_and_choices.some(isTrajectoryChoice))
}
