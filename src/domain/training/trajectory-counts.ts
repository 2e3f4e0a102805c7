/** Counts the contents of a training job. Pure. */

import type { TrajectoryGroup } from '../../schemas/training/training-job.ts'
import type { Trajectory } from '../../schemas/training/trajectory.ts'
import { parseTrainedModelName } from '../models/trained-model-name.ts'
import { choicesByHistory } from './sampled-choices.ts'

export interface TrajectoryCounts {
  readonly group_count: number
  readonly trajectory_count: number
  /** Trajectories with at least one choice, in any of their histories: the others can train nothing. */
  readonly trainable_count: number
  /** The lowest initial_policy_version by the name of the model that responded; by '' where none is named. */
  readonly policy_versions: ReadonlyMap<string, number>
}

/** Counts groups and trajectories. Spec: §2.12 trajectory_groups. */
export function countTrajectories(groups: readonly TrajectoryGroup[]): TrajectoryCounts {
  const trajectories = groups.flatMap((group) => group.trajectories ?? [])
  return {
    group_count: groups.length,
    trajectory_count: trajectories.length,
    trainable_count: trajectories.filter(hasChoice).length,
    policy_versions: oldestByModel(trajectories),
  }
}

/**
 * The lowest policy version of the rollouts of a model; null when none is known.
 *
 * Spec: §2.12 initial_policy_version.
 * Choice: steps of one model say nothing of another's, so that rollouts whose `metadata.model` is a step of
 * another model have no version.
 */
export function oldestVersionOf(
  name: string,
  versions: TrajectoryCounts['policy_versions'],
): number | null {
  const oldest = Math.min(versions.get(name) ?? Infinity, versions.get('') ?? Infinity)
  return oldest === Infinity ? null : oldest
}

function oldestByModel(trajectories: readonly Trajectory[]): Map<string, number> {
  const oldest = new Map<string, number>()
  for (const { initial_policy_version: version, metadata } of trajectories) {
    if (typeof version !== 'number') continue
    const name = nameOfPolicy(metadata?.model)
    oldest.set(name, Math.min(version, oldest.get(name) ?? version))
  }
  return oldest
}

function nameOfPolicy(model: unknown): string {
  const named = typeof model === 'string' ? parseTrainedModelName(model) : null
  return named === null || named.step === null ? '' : named.name
}

function hasChoice(trajectory: Trajectory): boolean {
  return choicesByHistory(trajectory).some((choices) => choices.length > 0)
}
