/** Checkpoints: the stored record and its format in the API. Pure. */
import type {
  CheckpointDetail,
  CheckpointListResponse,
  CheckpointResponse,
} from '../../schemas/models/checkpoint.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { toPage } from '../query/page.ts'

/** The weights of a model after a step. */
export interface Checkpoint {
  /** A UUID in lower case. */
  readonly id: string
  readonly model_id: string
  /** >= 0; unique in its model, deleted checkpoints included. */
  readonly step: number
  readonly metrics: JsonObject
  readonly created_at_us: number
}

/** The weights of a checkpoint as one file. */
export interface Artifact {
  /** The store's own name of the file. */
  readonly path: string
  /** SHA-256 of the file, in hex. */
  readonly sha256: string
  readonly bytes: number
}

/** A checkpoint with its origin and the location of its weights. */
export interface StoredCheckpoint extends Checkpoint {
  /** Null: the weights are those of the base model. */
  readonly artifact: Artifact | null
  /** The job that made it, or null. */
  readonly job_id: string | null
  /** The worker that trained it, or null. */
  readonly worker_id: string | null
  readonly worker_version: string | null
}

const STEP = /^(?:0|[1-9]\d{0,15})$/

/** The step that a path names; null when it can be none. */
export function parseStep(text: string): number | 'latest' | null {
  if (text === 'latest') return text
  const step = STEP.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(step) ? step : null
}

/** A page as the API shows it. Spec: §4.9. */
export function renderCheckpointPage(
  rows: readonly Checkpoint[],
  limit: number,
): CheckpointListResponse {
  return toPage(rows.map(renderCheckpoint), limit)
}

function renderCheckpoint({ id, step, metrics }: Checkpoint): CheckpointResponse {
  return { id, step, metrics }
}

/** Path of a checkpoint's file. */
function artifactUrl({ model_id, step }: Checkpoint): string {
  return `/v1/preview/models/${model_id}/checkpoints/${step}/artifact`
}

/** One checkpoint as the API shows it. */
export function renderCheckpointDetail(checkpoint: StoredCheckpoint): CheckpointDetail {
  const { artifact, created_at_us, job_id } = checkpoint
  return {
    ...renderCheckpoint(checkpoint),
    created_at: renderTimestamp(created_at_us),
    job_id,
    worker: renderWorker(checkpoint),
    artifact: artifact && {
      url: artifactUrl(checkpoint),
      sha256: artifact.sha256,
      bytes: artifact.bytes,
    },
  }
}

/** The worker that trained a job or made a checkpoint; null if none is known. */
export function renderWorker({
  worker_id: id,
  worker_version: version,
}: Pick<StoredCheckpoint, 'worker_id' | 'worker_version'>) {
  return id === null || version === null ? null : { id, version }
}
