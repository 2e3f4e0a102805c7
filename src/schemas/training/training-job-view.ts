/** Training jobs and their events as clients read them: additions to the spec. Spec: §4.8 (only creates jobs). */
import { z } from 'zod'
import { FreeObject, ProjectId, Time } from '../primitives.ts'
import { orderField, PageQuery, pageOf } from '../query/page-query.ts'
import { TRAINING_JOB_STATES, TrainingJobResponse } from './training-job.ts'
import { JOB_EVENT_TYPES, ResolvedConfig, UNTRAINED_REASONS } from './worker.ts'

/** Query of the job list. */
export const TrainingJobListQuery = PageQuery.extend({
  project_id: ProjectId.optional().describe('Only jobs of this project.'),
  model_id: z.string('must be given once').max(128).optional().describe('Only jobs of this model.'),
  status: z.enum(TRAINING_JOB_STATES).optional().describe('Only jobs in this state.'),
  order: orderField('creation'),
})

/** A training job with all fields. Spec: §4.8. Choice: more than training clients read, the id alone. */
export const TrainingJobDetail = z
  .object({
    ...TrainingJobResponse.shape,
    started_at: Time.nullable().describe('When the last attempt began, UTC.'),
    finished_at: Time.nullable().describe('When it ended, UTC.'),
    attempt: z.int().describe('Number of the last attempt; 0 before the first.'),
    max_attempts: z.int().describe('Failed attempts after which the job has failed.'),
    cancel_requested: z.boolean().describe('Whether a client has cancelled it.'),
    last_heartbeat_at: Time.nullable().describe('When its worker last reported, UTC.'),
    progress: z.number().nullable().describe('Progress, 0 to 1, as reported by the worker.'),
    worker: z
      .object({
        id: z.string().describe('Name of the worker.'),
        version: z.string().describe('Its version.'),
      })
      .nullable()
      .describe('The worker of the last attempt.'),
    error: z
      .object({
        code: z
          .string()
          .describe('lease_expired, wall_limit, no_worker, cancelled, or a worker’s.'),
        message: z.string().describe('Message for people.'),
      })
      .nullable()
      .describe('Why the job, or its last attempt, failed.'),
    group_count: z.int().describe('Groups.'),
    trajectory_count: z.int().describe('Trajectories.'),
    trainable_count: z.int().describe('Trajectories with at least one choice.'),
    policy_lag: z
      .int()
      .nullable()
      .describe(
        'Steps of the model between the oldest rollout and the trained weights; null when unknown.',
      ),
    source: FreeObject.nullable().describe(
      'Which calls it was made of, as `/training-jobs/from-calls` was sent it; null: it was sent as trajectories.',
    ),
    resolved_config: ResolvedConfig.nullable().describe(
      'Settings of the last attempt, with defaults.',
    ),
    parent_checkpoint_id: z
      .string()
      .nullable()
      .describe('Checkpoint that the last attempt resumed from; null: the base model.'),
    checkpoint: z
      .object({
        id: z.string().describe('Id of the checkpoint.'),
        step: z.int().describe('Its step.'),
      })
      .nullable()
      .describe('The resulting checkpoint.'),
    untrained_reason: z
      .enum(UNTRAINED_REASONS)
      .nullable()
      .describe('Why there was nothing to train on; null when there was.'),
  })
  .meta({ id: 'TrainingJobDetail', description: 'A training job with its progress.' })
export type TrainingJobDetail = z.infer<typeof TrainingJobDetail>

export const TrainingJobListResponse = pageOf(TrainingJobDetail).meta({
  id: 'TrainingJobListResponse',
  description: 'A page of training jobs.',
})

/** Query of the events; they have one order. */
export const JobEventListQuery = PageQuery

export const JobEventResponse = z
  .object({
    id: z.string().meta({ description: 'Id of the event.', format: 'uuid' }),
    type: z
      .enum(JOB_EVENT_TYPES)
      .describe('training_ended or training_failed is the last one of every job.'),
    data: FreeObject.describe('Data of the event by name; error_message when it failed.'),
  })
  .meta({ id: 'JobEventResponse', description: 'An event of a training job.' })
export type JobEventResponse = z.infer<typeof JobEventResponse>

export const JobEventListResponse = pageOf(JobEventResponse).meta({
  id: 'JobEventListResponse',
  description: 'A page of events.',
})
