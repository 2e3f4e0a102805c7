/**
 * The worker protocol on the wire: how a trainer claims a job, reports on it and delivers the result.
 *
 * Spec: §4.8 (nothing of the spec runs a job). Choice: leases over HTTP, described in docs/training.md.
 */
import { z } from 'zod'
import { boundedMap, boundedNumber, ruleError, wholeNumber } from '../bounded-fields.ts'
import { nameOf, Time } from '../primitives.ts'
import { TrajectoryGroup } from './training-job.ts'

export const CLAIM_WAIT_SECONDS_MAX = 30
/** Limit: base models that one claim names. */
const BASE_MODELS_MAX = 100
/** Limit: events of one request; a job of a minute has tens. */
const EVENTS_PER_REQUEST_MAX = 1_000
const EVENT_SEQ_MAX = 1_000_000_000
const NUMBERS_MAX = 200
const ERROR_MESSAGE_CHARS_MAX = 2_000

/** Header of GET and PUT requests that carries the lease token; POST requests carry it in the body. */
export const LEASE_HEADER = 'x-weft-lease'
/** Header of the artifact upload: SHA-256 of the bytes, in hex. */
export const ARTIFACT_SHA256_HEADER = 'x-weft-sha256'

/** Events that a worker may write; the final ones are the server's. Spec: §4.8. */
const WORKER_EVENT_TYPES = ['training_started', 'gradient_step'] as const
/** All events of a job. Spec: §4.8 (not shown). Choice: the four that training clients know. */
export const JOB_EVENT_TYPES = [...WORKER_EVENT_TYPES, 'training_ended', 'training_failed'] as const
export type JobEventType = (typeof JOB_EVENT_TYPES)[number]

/** Why a job had nothing to train on. Spec: §2.12 (not shown). Choice: distinguished, since the remedies differ. */
export const UNTRAINED_REASONS = ['no_choice', 'no_logprobs', 'no_variance'] as const
export type UntrainedReason = (typeof UNTRAINED_REASONS)[number]

const finite = boundedNumber('a finite number')
const Numbers = boundedMap(finite, { max: NUMBERS_MAX })

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case')

const LeaseToken = z.string().min(1).max(256).describe('Token of the lease, from the claim.')

/** Input of `POST /v1/preview/worker/claim`. */
export const ClaimRequest = z
  .strictObject({
    worker_id: nameOf(128).describe('Name of the worker, recorded with the job.'),
    worker_version: nameOf(128).describe('Version of the worker, recorded with the checkpoint.'),
    base_models: z
      .array(nameOf(256))
      .min(1, 'must name at least one base model')
      .max(BASE_MODELS_MAX)
      .describe('Base models that it can train; it is given only jobs of these.'),
    wait_seconds: boundedNumber(`a number from 0 to ${CLAIM_WAIT_SECONDS_MAX}`, {
      min: 0,
      max: CLAIM_WAIT_SECONDS_MAX,
    })
      .optional()
      .describe('Seconds to wait for a job when there is none. Default 0.'),
  })
  .meta({ id: 'ClaimRequest', description: 'A worker that requests a job.' })
export type ClaimRequest = z.infer<typeof ClaimRequest>

/** Bytes that a worker fetches from this server, with its key and its lease. */
const Fetchable = z.object({
  url: z.string().describe('Path on this server; send the key and the lease header.'),
  sha256: z.string().describe('SHA-256 of the bytes, in hex.'),
  bytes: z.int().describe('Length in bytes.'),
})

/** The settings of a job with all defaults filled in, and keys that Weft does not know as they were sent. */
export const ResolvedConfig = z.looseObject({
  advantage_balance: z.number().describe('Weight of good against bad rollouts, -1 to 1.'),
  epsilon: z.number().describe('Lower width of the clip range.'),
  epsilon_high: z.number().describe('Upper width of the clip range.'),
  importance_sampling_level: z.string().describe('Level at which probability ratios are taken.'),
  learning_rate: z.number().describe('Step size of the optimizer.'),
  mask_prob_ratio: z.boolean().describe('Whether tokens outside the clip range are masked.'),
  max_negative_advantage_importance_sampling_weight: z
    .number()
    .nullable()
    .describe('Upper bound of the probability ratio; null: none.'),
  model_k2_tau: z
    .number()
    .nullable()
    .describe('Weight of the penalty for moving away from the sampling policy; null: none.'),
  ppo: z.boolean().describe('Whether to use the loss of PPO instead of CISPO.'),
  precalculate_logprobs: z
    .boolean()
    .describe('Whether old log probabilities are recomputed before the first step.'),
  scale_rewards: z
    .boolean()
    .describe('Whether rewards are divided by the standard deviation of their group.'),
})

/** A claimed job. */
export const ClaimResponse = z
  .object({
    id: z.string().describe('Id of the job, a UUID.'),
    attempt: z.int().describe('Number of this attempt, from 1; never reused.'),
    lease_token: z
      .string()
      .describe('Token of the lease, which every later request must carry. Secret.'),
    lease_expires_at: Time.describe('When the lease ends unless it is renewed, UTC.'),
    deadline_at: Time.describe('When the attempt ends even if it is renewed, UTC.'),
    heartbeat_seconds: z.number().describe('Interval at which to send heartbeats.'),
    model: z
      .object({
        id: z.string().describe('Id of the model, a UUID.'),
        entity: z.string().describe('First half of its project id.'),
        project: z.string().describe('Second half of its project id.'),
        name: z.string().describe('Its name.'),
        base_model: z.string().describe('Its base model.'),
      })
      .describe('The model to train.'),
    parent_checkpoint: z
      .object({
        id: z.string().describe('Id of the checkpoint, a UUID.'),
        step: z.int().describe('Its step.'),
        artifact: Fetchable.nullable().describe('Null: the weights are those of the base model.'),
      })
      .nullable()
      .describe('The checkpoint that training resumes from; null: the base model.'),
    resolved_config: ResolvedConfig.describe('Settings with defaults filled in.'),
    payload: Fetchable.describe(
      'The trajectory groups: the JSON array exactly as the client sent it.',
    ),
    group_count: z.int().describe('Number of groups in the payload.'),
    trajectory_count: z.int().describe('Number of trajectories in the payload.'),
    trainable_count: z.int().describe('Trajectories with at least one choice.'),
    policy_lag: z
      .int()
      .nullable()
      .describe(
        'Step of the parent minus the oldest step of the model in the rollouts, never negative; null when unknown.',
      ),
  })
  .meta({ id: 'ClaimResponse', description: 'A job and its lease.' })
export type ClaimResponse = z.infer<typeof ClaimResponse>

export const HeartbeatRequest = z
  .strictObject({
    lease_token: LeaseToken,
    progress: boundedNumber('a number from 0 to 1', { min: 0, max: 1 })
      .nullish()
      .describe('Progress of the job, 0 to 1.'),
  })
  .meta({ id: 'HeartbeatRequest', description: 'Renews a lease.' })

export const HeartbeatResponse = z
  .object({
    lease_expires_at: Time.describe('When the lease ends unless it is renewed again, UTC.'),
    cancel_requested: z
      .boolean()
      .describe('True: stop, and give the job back by fail or release; it ends as cancelled.'),
  })
  .meta({ id: 'HeartbeatResponse', description: 'A renewed lease.' })

const seq = wholeNumber(0, EVENT_SEQ_MAX).describe(
  'Number of the event in its attempt; a second event with the same number is ignored.',
)

const WorkerEvent = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      seq,
      type: z.literal('training_started').describe('Training has begun.'),
      data: Numbers.refine(
        ({ num_sequences: count = -1 }) => Number.isInteger(count) && count >= 0,
        'must have a whole num_sequences of 0 or more',
      ).describe(
        'Metrics by name; num_sequences, the number of planned gradient steps, is required.',
      ),
    }),
    z.strictObject({
      seq,
      type: z.literal('gradient_step').describe('One step of the optimizer.'),
      data: Numbers.describe('Metrics of one optimizer step by name.'),
    }),
  ],
  ruleError('an event of type training_started or gradient_step'),
)
export type WorkerEvent = z.infer<typeof WorkerEvent>

export const JobEventsRequest = z
  .strictObject({
    lease_token: LeaseToken,
    events: z
      .array(WorkerEvent)
      .max(EVENTS_PER_REQUEST_MAX)
      .describe('Events in order; events that were sent before are ignored.'),
  })
  .meta({ id: 'JobEventsRequest', description: 'Events of a training attempt.' })

/** The body of a job, as the client sent it. */
export const JobPayload = z.array(TrajectoryGroup).describe('The trajectory groups of the job.')

/** The body of the upload. */
export const ArtifactBody = z.string().meta({ format: 'binary', description: 'The weights.' })

/** Response to requests that only report. */
export const WorkerAck = z
  .object({ ok: z.literal(true).describe('Always true.') })
  .meta({ id: 'WorkerAck', description: 'The report is stored.' })

export const ArtifactResponse = z
  .object({
    sha256: z.string().describe('SHA-256 of the stored bytes, in hex.'),
    bytes: z.int().describe('Length in bytes.'),
  })
  .meta({ id: 'ArtifactResponse', description: 'A staged artifact; complete makes it visible.' })

export const CompleteRequest = z
  .strictObject({
    lease_token: LeaseToken,
    sha256: Sha256.nullish().describe(
      'SHA-256 of the uploaded artifact; only with trained true. Otherwise the weights of the parent stay.',
    ),
    metrics: Numbers.describe('Metrics of the step by name, stored with the checkpoint.'),
    trained: z.boolean().describe('Whether there was anything to train on.'),
    reason: z
      .enum(UNTRAINED_REASONS)
      .nullish()
      .describe('Why there was nothing to train on; only with trained false.'),
  })
  .refine(({ trained, sha256 }) => trained === (typeof sha256 === 'string'), {
    path: ['sha256'],
    message: 'must be given when trained is true, and only then',
  })
  .refine(({ trained, reason }) => trained !== (typeof reason === 'string'), {
    path: ['reason'],
    message: 'must be given when trained is false, and only then',
  })
  .meta({ id: 'CompleteRequest', description: 'The end of a training attempt.' })
export type CompleteRequest = z.infer<typeof CompleteRequest>

export const CompleteResponse = z
  .object({
    checkpoint: z
      .object({
        id: z.string().describe('Id of the checkpoint, a UUID.'),
        step: z.int().describe('Its step.'),
      })
      .describe('The new checkpoint.'),
  })
  .meta({ id: 'CompleteResponse', description: 'The checkpoint of the job.' })

export const FailRequest = z
  .strictObject({
    lease_token: LeaseToken,
    error: z
      .strictObject({
        code: z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a name in lower case')
          .describe('Stable code of the error.'),
        message: z.string().max(ERROR_MESSAGE_CHARS_MAX).describe('Message for people.'),
      })
      .describe('The error, shown to clients when the job has failed.'),
    retryable: z.boolean().describe('Whether another attempt may succeed.'),
  })
  .meta({ id: 'FailRequest', description: 'A training attempt that failed.' })
export type FailRequest = z.infer<typeof FailRequest>

export const ReleaseRequest = z
  .strictObject({ lease_token: LeaseToken })
  .meta({ id: 'ReleaseRequest', description: 'Releases a job; the attempt does not count.' })

/** Response to fail and release: the state of the job. */
export const LeaseEndResponse = z
  .object({
    status: z
      .enum(['queued', 'failed', 'cancelled'])
      .describe('State of the job; queued: it can be claimed again.'),
  })
  .meta({ id: 'LeaseEndResponse', description: 'State of the job after the end of the lease.' })
export type LeaseEndResponse = z.infer<typeof LeaseEndResponse>

/** Response to a claim when no job became available in time. */
export const NoContent = z.undefined().meta({ description: 'No job became available in time.' })

export const JobParams = z.object({ job_id: z.string().describe('Id of the job, a UUID.') })

export const LeaseHeaders = z.looseObject({
  [LEASE_HEADER]: z.string().max(256).optional().describe('Token of the lease, from the claim.'),
})

export const ArtifactHeaders = z.looseObject({
  ...LeaseHeaders.shape,
  [ARTIFACT_SHA256_HEADER]: z
    .string()
    .optional()
    .describe('SHA-256 of the bytes, 64 hexadecimal digits in lower case.'),
})
