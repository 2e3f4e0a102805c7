/** The state transitions of the training queue, in SQLite and PostgreSQL alike. Each is one transaction. */
import { renderJson } from '../../../domain/json/json-text.ts'
import type { Artifact, StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import {
  type AttemptEnd,
  BACKOFF_MS_MAX,
  completeJob,
  endOverdue,
  type Failure,
  failAttempt,
  type Moved,
  releaseJob,
  renewLease,
  startAttempt,
  stopJob,
  timeOutJob,
} from '../../../domain/training/training-moves.ts'
import {
  acceptsModel,
  requireRoomForEvents,
  requireSameArtifact,
  requireStaged,
} from '../../../domain/training/training-queue.ts'
import type {
  Claim,
  ClaimedJob,
  Lease,
  LeaseRenewal,
  NewJobEvent,
  Outcome,
  QueueTimes,
} from '../../api/training/training-queue.ts'
import { all, count, first, run, type Steps } from '../db/steps.ts'
import { findCheckpoint, findStep, toArtifactColumns } from '../models/checkpoint-steps.ts'
import { INSERT_JOB_CHECKPOINT } from '../models/checkpoints.sql.ts'
import type { JobMoves } from './job-moves.ts'
import { findJob, findModel, requireLeased } from './job-steps.ts'
import { COUNT_EVENTS } from './training-jobs.sql.ts'
import * as SQL from './training-queue.sql.ts'

const US_PER_MS = 1000

/** The result of a claim: the jobs it ended, as they were before, and the job it assigned. */
interface ClaimOutcome {
  readonly ended: readonly TrainingJob[]
  readonly claimed: ClaimedJob | null
}

/** The arguments of the method of TrainingQueue, as of those below. */
interface LeaseResumption {
  readonly now_us: number
  readonly lease_ms: number
  readonly moved_us: number
}

interface AttemptFailure {
  readonly lease: Lease
  readonly failure: Failure
  readonly end: AttemptEnd
}

interface StagedFile {
  readonly staged_path: string
  readonly staged_sha256: string
  readonly staged_bytes: number
}

/** A job before and after its attempt ended. */
export interface EndedAttempt {
  readonly before: TrainingJob
  readonly after: TrainingJob
}

/** The writes of the queue itself. */
export function createClaimWrites(moves: JobMoves, statements: SQL.QueueStatements) {
  function* endAllOverdue({ queue_timeout_ms, ...end }: QueueTimes): Steps<TrainingJob[]> {
    const { now_us } = end
    const overdue = yield* all<TrainingJob>(statements.LIST_OVERDUE_JOBS, { now_us })
    for (const job of overdue) yield* moves.save(job, endOverdue(job, end), now_us)
    if (queue_timeout_ms === 0) return overdue
    const waits_since_us = now_us - queue_timeout_ms * US_PER_MS
    const neglected = yield* all<TrainingJob>(statements.LIST_NEGLECTED_JOBS, { waits_since_us })
    for (const job of neglected) yield* moves.save(job, timeOutJob(job, now_us), now_us)
    return [...overdue, ...neglected]
  }

  function* start(claim: Claim): Steps<ClaimedJob | null> {
    const { times, base_models: _models, projects: _projects, ...worker } = claim
    const { now_us } = times
    const claimable = yield* all<SQL.ClaimableJob>(statements.LIST_CLAIMABLE_JOBS, { now_us })
    const found = claimable.find((row) => acceptsModel(claim, row))
    if (found === undefined) return null
    const job = (yield* findJob(found.id)) as TrainingJob
    const model = yield* findModel(job)
    const parent = yield* findStep(model.id, 'latest')
    const running = startAttempt(job, { ...worker, now_us, parent })
    yield* moves.save(job, { job: running, event: null }, now_us)
    return { job: running, model, parent }
  }

  return {
    *claim_job(claim: Claim): Steps<ClaimOutcome> {
      const ended = yield* endAllOverdue(claim.times)
      return { ended, claimed: yield* start(claim) }
    },
    /** Returns the ended jobs, as they were before. */
    end_overdue: endAllOverdue,
    *resume_leases({ now_us, lease_ms, moved_us }: LeaseResumption): Steps<void> {
      const lease_expires_at_us = now_us + lease_ms * US_PER_MS
      yield* run(SQL.EXTEND_LEASES, { lease_expires_at_us, moved_us })
      const available_us_max = now_us + BACKOFF_MS_MAX * US_PER_MS
      yield* run(statements.MOVE_WAITS, { moved_us, available_us_max })
    },
  }
}

/** The writes of workers on a job that they lease, except its completion. */
export function createLeaseWrites(moves: JobMoves) {
  function* end(lease: Lease, move: (job: TrainingJob) => Moved): Steps<EndedAttempt> {
    const before = yield* requireLeased(lease)
    return { before, after: yield* moves.save(before, move(before), lease.now_us) }
  }

  return {
    *renew_lease({
      lease,
      ...renewal
    }: LeaseRenewal & { readonly lease: Lease }): Steps<TrainingJob> {
      const { now_us } = lease
      const job = yield* requireLeased(lease)
      const renewed = renewLease(job, { now_us, ...renewal })
      return yield* moves.save(job, { job: renewed, event: null }, now_us)
    },
    *record_events({
      lease,
      events,
    }: {
      lease: Lease
      events: readonly NewJobEvent[]
    }): Steps<void> {
      const job = yield* requireLeased(lease)
      const { id: job_id, attempt } = job
      requireRoomForEvents(yield* count(COUNT_EVENTS, { job_id, attempt }), events.length)
      for (const event of events) yield* moves.addEvent(job, event, lease.now_us)
    },
    /** Returns the path of the previously staged file, or null. */
    *stage_artifact({ lease, staged }: { lease: Lease; staged: StagedFile }): Steps<string | null> {
      const job = yield* requireLeased(lease)
      yield* moves.save(job, { job: { ...job, ...staged }, event: null }, lease.now_us)
      return job.staged_path
    },
    fail_attempt: ({ lease, failure, end: times }: AttemptFailure) =>
      end(lease, (job) => failAttempt(job, failure, times)),
    release_job: (lease: Lease) => end(lease, (job) => releaseJob(job, lease.now_us)),
  }
}

/** The result of a completion: `ended` is the job before it, or null when nothing has changed. */
interface Completion {
  readonly ended: TrainingJob | null
  /** Null when the job was cancelled. */
  readonly checkpoint: StoredCheckpoint | null
}

export function createCompletionWrites(moves: JobMoves) {
  return {
    *complete_job({ lease, outcome }: { lease: Lease; outcome: Outcome }): Steps<Completion> {
      const { now_us } = lease
      const { sha256, reason } = outcome
      const found = yield* findJob(lease.job_id)
      if (found?.state === 'succeeded' && found.lease_token_hash === lease.token_hash) {
        requireSameArtifact(found, sha256)
        return { ended: null, checkpoint: yield* findCheckpoint(found.result_checkpoint_id) }
      }
      const job = yield* requireLeased(lease)
      if (job.cancel_requested) {
        yield* moves.save(job, stopJob(job, now_us), now_us)
        return { ended: job, checkpoint: null }
      }
      const checkpoint = yield* insert(job, outcome, now_us)
      const { id, step } = checkpoint
      // A repeated completion is compared with this digest.
      const completed = { ...job, staged_sha256: sha256 }
      yield* moves.save(job, completeJob(completed, { id, step, reason }, now_us), now_us)
      return { ended: job, checkpoint }
    },
  }
}

function* insert(
  job: TrainingJob,
  outcome: Outcome,
  created_at_us: number,
): Steps<StoredCheckpoint> {
  const { checkpoint_id: id, metrics } = outcome
  const { id: job_id, model_id, worker_id, worker_version } = job
  const artifact = yield* chooseArtifact(job, outcome)
  const taken = yield* first<{ last_step: number }>(SQL.TAKE_NEXT_STEP, { id: model_id })
  yield* run(INSERT_JOB_CHECKPOINT, {
    ...toArtifactColumns(artifact),
    id,
    model_id,
    step: taken?.last_step,
    metrics_json: renderJson(metrics),
    created_at_us,
    job_id,
    worker_id,
    worker_version,
  })
  return (yield* findCheckpoint(id)) as StoredCheckpoint
}

/** Returns the staged artifact, or the parent's when the worker has trained nothing. */
function* chooseArtifact(job: TrainingJob, { sha256 }: Outcome): Steps<Artifact | null> {
  if (sha256 !== null) return requireStaged(job, sha256)
  return (yield* findCheckpoint(job.parent_checkpoint_id))?.artifact ?? null
}
