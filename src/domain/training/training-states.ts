/** The states of a training job and the allowed transitions between them, defined here only. Pure. */
import { ApiError } from '../../errors.ts'
import type { TrainingJobState } from '../../schemas/training/training-job.ts'

/** Moves of a job. */
export const TRAINING_MOVES = [
  /** A worker claims the job. */
  'claim',
  /** The worker renews the lease, writes events or uploads an artifact. */
  'keep',
  /** The worker delivers the result. */
  'complete',
  /** An attempt has failed, and there will be another. */
  'retry',
  /** An attempt has failed, and there will be no other. */
  'give_up',
  /** The worker releases the job, which counts as no attempt. */
  'release',
  /** A client requests that the job stop. */
  'cancel',
  /** The attempt of a job that a client stops has ended. */
  'stop',
  /** No worker claimed the job in time. */
  'time_out',
] as const
export type TrainingMove = (typeof TRAINING_MOVES)[number]

/** The reason why a move is refused. `impossible` is a fault of the server's own. */
type Refusal = 'lease_lost' | 'training_job_ended' | 'impossible'

/** The result for a worker, and for the server's own transitions, when no worker holds the job. */
const WITHOUT_LEASE = {
  claim: 'impossible',
  keep: 'lease_lost',
  complete: 'lease_lost',
  retry: 'lease_lost',
  give_up: 'lease_lost',
  release: 'lease_lost',
  stop: 'lease_lost',
  time_out: 'impossible',
} as const

/**
 * Returns the state after a transition, or why it is not allowed.
 *
 * Spec: §3 (no states are given). Choice: what has ended stays as it is; a job that runs learns of a cancel
 * and ends by `stop`.
 */
const STATE_AFTER: Record<TrainingJobState, Record<TrainingMove, TrainingJobState | Refusal>> = {
  queued: { ...WITHOUT_LEASE, claim: 'running', cancel: 'cancelled', time_out: 'failed' },
  running: {
    claim: 'impossible',
    keep: 'running',
    complete: 'succeeded',
    retry: 'queued',
    give_up: 'failed',
    release: 'queued',
    cancel: 'running',
    stop: 'cancelled',
    time_out: 'impossible',
  },
  succeeded: { ...WITHOUT_LEASE, cancel: 'training_job_ended' },
  failed: { ...WITHOUT_LEASE, cancel: 'training_job_ended' },
  cancelled: { ...WITHOUT_LEASE, cancel: 'cancelled' },
}

/**
 * The state of a job after a move.
 *
 * @throws ApiError lease_lost, training_job_ended; TypeError for a move that the server must not try
 */
export function stateAfter(state: TrainingJobState, move: TrainingMove): TrainingJobState {
  const after = STATE_AFTER[state][move]
  if (after === 'lease_lost') throw leaseLost()
  if (after === 'training_job_ended') {
    throw new ApiError('training_job_ended', { headers: { 'x-should-retry': 'false' } })
  }
  if (after === 'impossible') throw new TypeError(`a job that is ${state} cannot ${move}`)
  return after
}

/** The error of a worker that has no lease on the job. The header stops SDKs from trying again. */
export function leaseLost(): ApiError {
  return new ApiError('lease_lost', { headers: { 'x-should-retry': 'false' } })
}

/** Whether a job has ended: it never changes again. */
export function hasEnded(state: TrainingJobState): boolean {
  return state !== 'queued' && state !== 'running'
}
