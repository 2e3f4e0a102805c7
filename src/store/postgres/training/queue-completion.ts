/** Completes a job with a checkpoint, in one transition; repeating the call returns the same. */
import { renderJson } from '../../../domain/json/json-text.ts'
import type { StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { completeJob, stopJob } from '../../../domain/training/training-moves.ts'
import { requireSameArtifact, requireStaged } from '../../../domain/training/training-queue.ts'
import type { Lease, Outcome } from '../../api/training/training-queue.ts'
import { toArtifactColumns } from '../../base/models/checkpoint-rows.ts'
import * as CHECKPOINTS from '../../base/models/checkpoints.sql.ts'
import { TAKE_NEXT_STEP } from '../../base/training/training-queue.sql.ts'
import type { JobMoves } from './job-moves.ts'
import { findCheckpoint, requireLeased } from './queue-rows.ts'

/** What a completion did: `ended` is the job before it, null when nothing has changed. */
interface Completion {
  readonly ended: TrainingJob | null
  /** Null when the job was cancelled. */
  readonly checkpoint: StoredCheckpoint | null
}

export async function complete(
  moves: JobMoves,
  lease: Lease,
  outcome: Outcome,
): Promise<Completion> {
  const { job_id, token_hash, now_us } = lease
  const { sha256, reason } = outcome
  const found = await moves.find(job_id)
  if (found?.state === 'succeeded' && found.lease_token_hash === token_hash) {
    requireSameArtifact(found, sha256)
    return { ended: null, checkpoint: await findCheckpoint(moves.tx, found.result_checkpoint_id) }
  }
  const job = await requireLeased(moves.tx, lease)
  if (job.cancel_requested) {
    await moves.save(job, stopJob(job, now_us), now_us)
    return { ended: job, checkpoint: null }
  }
  const checkpoint = await insert(moves, job, outcome, now_us)
  const { id, step } = checkpoint
  // What a repeat must be equal to.
  const completed = { ...job, staged_sha256: sha256 }
  await moves.save(job, completeJob(completed, { id, step, reason }, now_us), now_us)
  return { ended: job, checkpoint }
}

async function insert(
  { tx }: JobMoves,
  job: TrainingJob,
  outcome: Outcome,
  created_at_us: number,
): Promise<StoredCheckpoint> {
  const { checkpoint_id: id, metrics } = outcome
  const { id: job_id, model_id, worker_id, worker_version } = job
  const artifact = await chooseArtifact(tx, job, outcome)
  const taken = await tx.first<{ last_step: number }>(TAKE_NEXT_STEP, { id: model_id })
  await tx.run(CHECKPOINTS.INSERT_JOB_CHECKPOINT, {
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
  return (await findCheckpoint(tx, id)) as StoredCheckpoint
}

/** The staged artifact, or the parent's when the worker has trained nothing. */
async function chooseArtifact(tx: JobMoves['tx'], job: TrainingJob, { sha256 }: Outcome) {
  if (sha256 !== null) return requireStaged(job, sha256)
  return (await findCheckpoint(tx, job.parent_checkpoint_id))?.artifact ?? null
}
