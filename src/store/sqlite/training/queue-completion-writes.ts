/** Completes a job that has produced a checkpoint: one write, which returns the same result when it is repeated. */

import { renderJson } from '../../../domain/json/json-text.ts'
import type { StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { completeJob, stopJob } from '../../../domain/training/training-moves.ts'
import { requireSameArtifact, requireStaged } from '../../../domain/training/training-queue.ts'
import type { Lease, Outcome } from '../../api/training/training-queue.ts'
import { toArtifactColumns } from '../../base/models/checkpoint-rows.ts'
import * as CHECKPOINTS from '../../base/models/checkpoints.sql.ts'
import * as SQL from '../../base/training/training-queue.sql.ts'
import type { Connection } from '../db/connection.ts'
import type { JobMoves } from './job-moves.ts'
import type { QueueRows } from './queue-rows.ts'

/** The result of a completion: `ended` is the job before it, or null when nothing has changed. */
interface Completion {
  readonly ended: TrainingJob | null
  /** Null when the job was cancelled. */
  readonly checkpoint: StoredCheckpoint | null
}

export function createCompletionWrites(db: Connection, moves: JobMoves, rows: QueueRows) {
  const takeStep = db.prepare(SQL.TAKE_NEXT_STEP).pluck()
  const insertCheckpoint = db.prepare(CHECKPOINTS.INSERT_JOB_CHECKPOINT)

  function insert(job: TrainingJob, outcome: Outcome, now_us: number): StoredCheckpoint {
    const { checkpoint_id: id, metrics } = outcome
    const { id: job_id, model_id, worker_id, worker_version } = job
    insertCheckpoint.run({
      ...toArtifactColumns(chooseArtifact(job, outcome, rows)),
      id,
      model_id,
      step: takeStep.get({ id: model_id }) as number,
      metrics_json: renderJson(metrics),
      created_at_us: now_us,
      job_id,
      worker_id,
      worker_version,
    })
    return rows.findCheckpoint(id) as StoredCheckpoint
  }

  function complete({ lease, outcome }: { lease: Lease; outcome: Outcome }): Completion {
    const { job_id, token_hash, now_us } = lease
    const { sha256, reason } = outcome
    const found = moves.find(job_id)
    if (found?.state === 'succeeded' && found.lease_token_hash === token_hash) {
      requireSameArtifact(found, sha256)
      return { ended: null, checkpoint: rows.findCheckpoint(found.result_checkpoint_id) }
    }
    const job = rows.requireLeased({ job_id, token_hash, now_us })
    if (job.cancel_requested) {
      moves.save(job, stopJob(job, now_us), now_us)
      return { ended: job, checkpoint: null }
    }
    const checkpoint = insert(job, outcome, now_us)
    const { id, step } = checkpoint
    // A repeated completion is compared with this digest.
    const completed = { ...job, staged_sha256: sha256 }
    moves.save(job, completeJob(completed, { id, step, reason }, now_us), now_us)
    return { ended: job, checkpoint }
  }

  return { complete_job: complete }
}

/** Returns the staged artifact, or the parent's when the worker has trained nothing. */
function chooseArtifact(job: TrainingJob, { sha256 }: Outcome, rows: QueueRows) {
  if (sha256 !== null) return requireStaged(job, sha256)
  return rows.findCheckpoint(job.parent_checkpoint_id)?.artifact ?? null
}
