/** Training jobs made of recorded calls, an addition to the spec. Spec: §2.12. */
import { z } from 'zod'
import { ExperimentalConfig, TrainingJobResponse } from './training-job.ts'
import {
  HELD_OUT_DEFAULT,
  SEED_MAX,
  TRAJECTORY_SOURCE,
  TrajectoryStats,
} from './trajectory-from-calls.ts'

/** Input of `POST /v1/preview/training-jobs/from-calls`. Spec: §4.8 (nothing of the spec makes jobs). Choice: this route. */
export const TrainingFromCallsRequest = z
  .strictObject({
    ...TRAJECTORY_SOURCE,
    held_out: TRAJECTORY_SOURCE.held_out.unwrap().default(HELD_OUT_DEFAULT),
    models: TRAJECTORY_SOURCE.models.describe(
      'Models whose rollouts are taken. Default: the model to train, and its base; without one all.',
    ),
    model_id: z
      .guid('must be a UUID')
      .nullish()
      .describe('Model to train; where the job is only shown, none is needed.'),
    experimental_config: ExperimentalConfig.nullish().describe(
      'Settings of the training step; null or absent: all defaults.',
    ),
    shuffle_seed: z
      .int()
      .min(0)
      .max(SEED_MAX)
      .nullish()
      .describe(
        'Deals the rewards of each group out anew: the control, whose model should not get better. Default: they stay.',
      ),
    start: z
      .boolean()
      .default(false)
      .describe('Whether the job is queued; otherwise the response only shows what it would be.'),
  })
  .meta({ id: 'TrainingFromCallsRequest', description: 'What to train on which calls.' })
export type TrainingFromCallsRequest = z.output<typeof TrainingFromCallsRequest>

const TaskExample = z.object({
  trajectories: z.int().describe('Rollouts of the group.'),
  lowest_reward: z.number().describe('Lowest reward of a rollout.'),
  mean_reward: z.number().describe('Mean reward of the rollouts.'),
  highest_reward: z.number().describe('Highest reward of a rollout.'),
  prompt: z.string().describe('Messages that the best rollout was sent, as JSON, cut.'),
  rollouts: z
    .array(
      z.object({
        call_id: z.string().nullable().describe('Its first call.'),
        reward: z.number().describe('Its reward.'),
        response: z.string().describe('What the model said, as JSON, cut.'),
      }),
    )
    .describe('At most 8, the best first.'),
})
export type TaskExample = z.infer<typeof TaskExample>

export const TrainingFromCallsResponse = z
  .object({
    job: TrainingJobResponse.nullable().describe('The queued job; null: none was.'),
    stats: TrajectoryStats.describe('Numbers of calls, groups and rollouts.'),
    examples: z
      .array(TaskExample)
      .describe('At most 20 groups, in the order of their newest call.'),
  })
  .meta({ id: 'TrainingFromCallsResponse', description: 'What is trained on, and the job.' })
