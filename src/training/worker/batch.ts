/**
 * Plans a job: which tokens are trained, with which weights, and in which steps. For groups without
 * trainable tokens it must report the reason.
 */
import {
  groupAdvantages,
  meanOf,
  standardDeviation,
  type WeighedTrajectory,
  weighBatch,
} from '../../domain/training/advantages.ts'
import type { ResolvedTrainingConfig } from '../../domain/training/resolve-training-config.ts'
import type { TrajectoryGroup } from '../../schemas/training/training-job.ts'
import { UNTRAINED_REASONS, type UntrainedReason } from '../../schemas/training/worker.ts'
import {
  type TrainingSequence,
  TrajectoryError,
  type TrajectoryReader,
} from './trajectory-reader.ts'

/** Limit: tokens of one gradient step, for its time; 200 short rollouts fit. */
export const STEP_TOKENS_MAX = 8_192

/** A sequence with the weights of its tokens. */
export interface Datum {
  readonly sequence: TrainingSequence
  readonly advantage: number
  readonly weight: number
}

/** The plan of a job. */
interface Batch {
  /** The sequences of each gradient step, in order; none when nothing trains. */
  readonly steps: readonly (readonly Datum[])[]
  /** Why nothing trains; null when something does. */
  readonly reason: UntrainedReason | null
  /** Metrics of the whole job, by name. */
  readonly metrics: Readonly<Record<string, number>>
}

interface Candidate extends WeighedTrajectory {
  readonly sequences: readonly TrainingSequence[]
}

/**
 * Plans a job from its groups.
 *
 * @param pause - awaited between groups; an error from it ends the planning
 *
 * Spec: §2.12 trajectory_groups, §4.8 (what trains is not shown).
 * Choice: advantages compare all rollouts of a group, also those without choices; those of exactly 0 are
 * left out. A job reports the reason of the group that came nearest to training.
 *
 * @throws TrajectoryError for a rollout that cannot be one of the model; its message gives the position
 */
export async function planBatch(
  groups: readonly TrajectoryGroup[],
  reader: TrajectoryReader,
  config: Pick<ResolvedTrainingConfig, 'scale_rewards' | 'advantage_balance'>,
  pause: () => Promise<void>,
): Promise<Batch> {
  const read: (readonly Candidate[] | UntrainedReason)[] = []
  for (const [index, group] of groups.entries()) {
    await pause()
    read.push(readGroup(group, index, reader, config.scale_rewards))
  }
  const candidates = read.flatMap((found) => (typeof found === 'string' ? [] : found))
  const weights = weighBatch(candidates, config.advantage_balance)
  const data = candidates.flatMap(({ sequences }, place) => {
    const { advantage = 0, weight = 0 } = weights[place] ?? {}
    return sequences.map((sequence) => ({ sequence, advantage, weight }))
  })
  const isEmpty = data.every(({ advantage }) => advantage === 0)
  const reasons = read.filter((found) => typeof found === 'string')
  // Rollouts that train but count nothing are what an advantage balance of 1 or -1 can leave.
  const emptyReason = candidates.length > 0 ? 'no_variance' : nearestReason(reasons)
  return {
    steps: isEmpty ? [] : packSteps(data),
    reason: isEmpty ? emptyReason : null,
    metrics: { ...rewardMetrics(groups), ...groupMetrics(read), ...countTokens(data, candidates) },
  }
}

/** The rollouts of a group that train, one or more, or why none does. */
function readGroup(
  { trajectories = [] }: TrajectoryGroup,
  index: number,
  reader: TrajectoryReader,
  isScaled: boolean,
): readonly Candidate[] | UntrainedReason {
  const advantages = groupAdvantages(
    trajectories.map(({ reward = 0 }) => reward),
    isScaled,
  )
  const reasons: UntrainedReason[] = []
  const candidates: Candidate[] = []
  for (const [place, trajectory] of trajectories.entries()) {
    const sequences = readAt(`trajectory_groups[${index}].trajectories[${place}]`, () =>
      reader.read(trajectory),
    )
    const advantage = advantages[place] ?? 0
    if (typeof sequences === 'string') reasons.push(sequences)
    else if (advantage === 0) reasons.push('no_variance')
    else {
      const trainableTokens = sequences.reduce((sum, { places }) => sum + places.length, 0)
      candidates.push({ sequences, advantage, trainableTokens })
    }
  }
  return candidates.length > 0 ? candidates : nearestReason(reasons)
}

function readAt<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TrajectoryError)) throw error
    throw new TrajectoryError(`${path}: ${error.message}`, error.cause)
  }
}

/** Returns the reason nearest to training: UNTRAINED_REASONS is in that order. Without rollouts it is `no_choice`. */
function nearestReason(reasons: readonly UntrainedReason[]): UntrainedReason {
  return UNTRAINED_REASONS.findLast((reason) => reasons.includes(reason)) ?? 'no_choice'
}

/** Packs sequences, in order, into steps of bounded length. */
function packSteps(data: readonly Datum[]): Datum[][] {
  const steps: Datum[][] = []
  let room = 0
  for (const datum of data) {
    const { length } = datum.sequence.ids
    if (length > room) {
      steps.push([])
      room = STEP_TOKENS_MAX
    }
    steps.at(-1)?.push(datum)
    room -= length
  }
  return steps
}

function rewardMetrics(groups: readonly TrajectoryGroup[]): Record<string, number> {
  const rewards = groups.map(({ trajectories = [] }) =>
    trajectories.map(({ reward = 0 }) => reward),
  )
  const filled = rewards.filter((list) => list.length > 0)
  return {
    reward: meanOf(rewards.flat()),
    reward_std_dev: meanOf(filled.map(standardDeviation)),
  }
}

function groupMetrics(
  read: readonly (readonly Candidate[] | UntrainedReason)[],
): Record<string, number> {
  const count = (reason: UntrainedReason): number => read.filter((found) => found === reason).length
  return {
    num_groups_submitted: read.length,
    num_groups_trainable: read.filter((found) => typeof found !== 'string').length,
    num_groups_no_choice: count('no_choice'),
    num_groups_no_logprobs: count('no_logprobs'),
    num_groups_no_variance: count('no_variance'),
  }
}

function countTokens(
  data: readonly Datum[],
  candidates: readonly Candidate[],
): Record<string, number> {
  return {
    num_trajectories: candidates.length,
    num_datums: data.length,
    num_trainable_tokens: data.reduce((sum, { sequence }) => sum + sequence.places.length, 0),
    train_tokens: data.reduce((sum, { sequence }) => sum + sequence.ids.length, 0),
  }
}
