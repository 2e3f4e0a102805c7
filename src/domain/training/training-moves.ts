/**
 * Computes the effect of each transition of a training job: its next row and, at its end, its last event. Pure: the
 * caller provides times and randomness, and stores the result in one transaction.
 */
import type { JobEventType } from '../../schemas/training/worker.ts'
import { resolveTrainingConfig } from './resolve-training-config.ts'
import type { TrainingJob } from './training-job.ts'
import { hasEnded, leaseLost, stateAfter, type TrainingMove } from './training-states.ts'

/** Limit: the longest wait before another attempt. */
export const BACKOFF_MS_MAX = 300_000
const US_PER_MS = 1000

/** An event of a job. */
export interface JobEvent {
  readonly type: JobEventType
  readonly data: Readonly<Record<string, unknown>>
}

/** A job after a transition. `event` is the last one of its stream, null while the job continues. */
export interface Moved {
  readonly job: TrainingJob
  readonly event: JobEvent | null
}

export interface AttemptStart {
  readonly now_us: number
  readonly lease_token_hash: string
  readonly lease_ms: number
  /** Time that the attempt has in all. */
  readonly wall_ms: number
  readonly worker_id: string
  readonly worker_version: string
  /** The checkpoint that it resumes from; null: the base model. */
  readonly parent: { readonly id: string; readonly step: number } | null
}

export interface AttemptEnd {
  readonly now_us: number
  /** 0..1, spreads the next attempts of jobs that failed together. */
  readonly chance: number
  /** Wait before the second attempt; it doubles with each. */
  readonly retry_ms: number
}

export interface Failure {
  readonly code: string
  readonly message: string
  readonly isRetryable: boolean
}

const NO_LEASE = {
  lease_expires_at_us: null,
  attempt_deadline_us: null,
  staged_path: null,
  staged_sha256: null,
  staged_bytes: null,
  progress: null,
} as const

/** Assigns a queued job to a worker. */
export function startAttempt(job: TrainingJob, start: AttemptStart): TrainingJob {
  const { now_us, lease_ms, wall_ms, parent, ...worker } = start
  const config = job.config_json === null ? null : JSON.parse(job.config_json)
  return {
    ...move(job, 'claim'),
    ...NO_LEASE,
    ...worker,
    attempt: job.attempt + 1,
    lease_expires_at_us: now_us + lease_ms * US_PER_MS,
    attempt_deadline_us: now_us + wall_ms * US_PER_MS,
    last_heartbeat_at_us: now_us,
    started_at_us: now_us,
    resolved_config_json: JSON.stringify(resolveTrainingConfig(config)),
    parent_checkpoint_id: parent?.id ?? null,
    policy_lag: lagOf(job, parent?.step ?? 0),
    error_code: null,
    error_message: null,
  }
}

/**
 * Spec: §2.12 initial_policy_version (its use is not shown).
 * Choice: null for rollouts of a later step than the parent's: it was deleted, or is another model's.
 */
function lagOf({ oldest_policy_version: oldest }: TrainingJob, step: number): number | null {
  return oldest === null || oldest > step ? null : step - oldest
}

/**
 * Refuses a request that is not from the worker that holds the lease.
 *
 * Spec: §4.8. Choice: a lease that has run out is lost, whether or not another worker has the job.
 *
 * @throws ApiError lease_lost
 */
export function requireLease(job: TrainingJob, lease_token_hash: string, now_us: number): void {
  stateAfter(job.state, 'keep')
  if (job.lease_token_hash !== lease_token_hash || isOverdue(job, now_us)) throw leaseLost()
}

/** Whether the lease or the time of a running job's attempt has run out. */
function isOverdue(job: TrainingJob, now_us: number): boolean {
  return now_us >= (job.lease_expires_at_us ?? 0) || now_us >= (job.attempt_deadline_us ?? 0)
}

interface LeaseRenewal {
  readonly now_us: number
  readonly lease_ms: number
  /** 0..1; null: not told. */
  readonly progress: number | null
}

/** Renews a lease, never beyond the end of the attempt. */
export function renewLease(
  job: TrainingJob,
  { now_us, lease_ms, progress }: LeaseRenewal,
): TrainingJob {
  const renewed = Math.max(job.lease_expires_at_us ?? 0, now_us + lease_ms * US_PER_MS)
  return {
    ...move(job, 'keep'),
    lease_expires_at_us: Math.min(renewed, job.attempt_deadline_us ?? renewed),
    last_heartbeat_at_us: now_us,
    progress: progress ?? job.progress,
  }
}

/** Ends a job with a new checkpoint. */
export function completeJob(
  job: TrainingJob,
  made: { readonly id: string; readonly step: number; readonly reason: string | null },
  now_us: number,
): Moved {
  const { id, step, reason } = made
  return {
    job: {
      ...move(job, 'complete'),
      result_checkpoint_id: id,
      untrained_reason: reason,
      lease_expires_at_us: null,
      attempt_deadline_us: null,
      progress: 1,
      finished_at_us: now_us,
    },
    event: {
      type: 'training_ended',
      data: reason === null ? { step } : { step, reason },
    },
  }
}

/** Ends the attempt of a running job that failed: there is another one, or the job has failed. */
export function failAttempt(job: TrainingJob, failure: Failure, end: AttemptEnd): Moved {
  if (job.cancel_requested) return stopJob(job, end.now_us)
  const counted = job.attempt - job.released_count
  const { code, message, isRetryable } = failure
  if (!isRetryable || counted >= job.max_attempts) {
    return endInFailure(job, 'give_up', { code, message }, end.now_us)
  }
  return {
    job: {
      ...move(job, 'retry'),
      ...NO_LEASE,
      lease_token_hash: null,
      available_at_us: end.now_us + backoffUs(counted, end),
      error_code: code,
      error_message: message,
    },
    event: null,
  }
}

/** Ends the attempt of a running job whose lease or time has run out. */
export function endOverdue(job: TrainingJob, end: AttemptEnd): Moved {
  if (end.now_us >= (job.attempt_deadline_us ?? 0)) {
    const message = 'The attempt exceeded its time limit.'
    return failAttempt(job, { code: 'wall_limit', message, isRetryable: false }, end)
  }
  const message = 'The worker stopped sending heartbeats.'
  return failAttempt(job, { code: 'lease_expired', message, isRetryable: true }, end)
}

/** Takes a running job back from a worker that stops; the attempt does not count. */
export function releaseJob(job: TrainingJob, now_us: number): Moved {
  if (job.cancel_requested) return stopJob(job, now_us)
  const released = {
    ...move(job, 'release'),
    ...NO_LEASE,
    lease_token_hash: null,
    released_count: job.released_count + 1,
    available_at_us: now_us,
  }
  return { job: released, event: null }
}

/** Cancels a queued job at once; a running one learns of it. */
export function cancelJob(job: TrainingJob, message: string, now_us: number): Moved {
  const moved = { ...move(job, 'cancel'), cancel_requested: 1 as const }
  if (moved.state === 'running' || hasEnded(job.state)) {
    return { job: hasEnded(job.state) ? job : moved, event: null }
  }
  return endInFailure(job, 'cancel', { code: 'cancelled', message }, now_us)
}

/** Ends a running job that a client wants to stop. */
export function stopJob(job: TrainingJob, now_us: number): Moved {
  const message = 'The job was cancelled.'
  return endInFailure(job, 'stop', { code: 'cancelled', message }, now_us)
}

/** Ends a queued job that no worker claimed. */
export function timeOutJob(job: TrainingJob, now_us: number): Moved {
  const message = 'No worker for this base model claimed the job in time.'
  return endInFailure(job, 'time_out', { code: 'no_worker', message }, now_us)
}

/**
 * Spec: §4.8. Choice: a cancel is told as training_failed too, since clients wait for one of two last
 * events and know no other.
 */
function endInFailure(
  job: TrainingJob,
  by: TrainingMove,
  { code, message }: { readonly code: string; readonly message: string },
  now_us: number,
): Moved {
  return {
    job: {
      ...move(job, by),
      ...NO_LEASE,
      lease_token_hash: null,
      cancel_requested: code === 'cancelled' ? 1 : job.cancel_requested,
      error_code: code,
      error_message: message,
      finished_at_us: now_us,
    },
    event: { type: 'training_failed', data: { error_message: message, error_code: code } },
  }
}

/**
 * Spec: §4.8 (retries not shown).
 * Choice: the wait doubles with each attempt up to BACKOFF_MS_MAX, and chance takes up to a half of it.
 */
function backoffUs(counted: number, { chance, retry_ms }: AttemptEnd): number {
  const full = Math.min(retry_ms * 2 ** counted, BACKOFF_MS_MAX)
  return Math.round(full * US_PER_MS * (1 - chance / 2))
}

function move(job: TrainingJob, by: TrainingMove): TrainingJob {
  return { ...job, state: stateAfter(job.state, by) }
}
