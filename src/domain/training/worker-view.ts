/** A job in the format of the worker protocol. Pure. */
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { ClaimResponse } from '../../schemas/training/worker.ts'
import type { StoredCheckpoint } from '../models/checkpoint.ts'
import type { PreviewModel } from '../models/preview-model.ts'
import type { TrainingJob } from './training-job.ts'

const MS_PER_S = 1000
/** Heartbeats that fit into a lease: two may be lost. */
const HEARTBEATS_PER_LEASE = 3

interface GivenJob {
  readonly job: TrainingJob
  readonly model: PreviewModel
  readonly parent: StoredCheckpoint | null
}

/** A claimed job as the API shows it. */
export function renderClaim(
  { job, model, parent }: GivenJob,
  { lease_token, lease_ms }: { readonly lease_token: string; readonly lease_ms: number },
): ClaimResponse {
  const { id, entity, project, name, base_model } = model
  return {
    id: job.id,
    attempt: job.attempt,
    lease_token,
    lease_expires_at: renderTimestamp(job.lease_expires_at_us ?? 0),
    deadline_at: renderTimestamp(job.attempt_deadline_us ?? 0),
    heartbeat_seconds: lease_ms / HEARTBEATS_PER_LEASE / MS_PER_S,
    model: { id, entity, project, name, base_model },
    parent_checkpoint: parent && renderParent(job, parent),
    resolved_config: JSON.parse(job.resolved_config_json ?? '{}'),
    payload: {
      url: `/v1/preview/worker/jobs/${job.id}/payload`,
      sha256: job.payload_sha256,
      bytes: job.payload_bytes,
    },
    group_count: job.group_count,
    trajectory_count: job.trajectory_count,
    trainable_count: job.trainable_count,
    policy_lag: job.policy_lag,
  }
}

function renderParent(job: TrainingJob, { id, step, artifact }: StoredCheckpoint) {
  if (artifact === null) return { id, step, artifact }
  const url = `/v1/preview/worker/jobs/${job.id}/parent-artifact`
  return { id, step, artifact: { url, sha256: artifact.sha256, bytes: artifact.bytes } }
}
