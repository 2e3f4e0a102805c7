/** Completes a job that has produced a checkpoint: one transaction, which returns the same when it is repeated. */
import { renderJson } from '../../../domain/json/json-text.ts'
import type { Artifact, StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { completeJob, stopJob } from '../../../domain/training/training-moves.ts'
import { requireSameArtifact, requireStaged } from '../../../domain/training/training-queue.ts'
import type { Lease, Outcome } from '../../api/training/training-queue.ts'
import { first, run, type Steps } from '../db/steps.ts'
import { toArtifactColumns } from '../models/checkpoint-rows.ts'
import { findCheckpoint } from '../models/checkpoint-steps.ts'
import { INSERT_JOB_CHECKPOINT } from '../models/checkpoints.sql.ts'
import type { JobMoves } from './job-moves.ts'
import { findJob, requireLeased } from './job-steps.ts'
import { TAKE_NEXT_STEP } from './training-queue.sql.ts'

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
  const taken = yield* first<{ last_step: number }>(TAKE_NEXT_STEP, { id: model_id })
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
