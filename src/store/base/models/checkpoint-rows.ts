/** Converts rows to checkpoints. */
import { parseLossless } from '../../../domain/json/json-text.ts'
import type { Artifact, Checkpoint, StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'

export interface CheckpointRow extends Omit<Checkpoint, 'metrics'> {
  readonly metrics_json: string
}

/** A row with the columns of the artifact and of the worker. */
export interface StoredCheckpointRow extends CheckpointRow {
  readonly job_id: string | null
  readonly artifact_path: string | null
  readonly artifact_sha256: string | null
  readonly artifact_bytes: number | null
  readonly worker_id: string | null
  readonly worker_version: string | null
}

export function toCheckpoint({ metrics_json, ...row }: CheckpointRow): Checkpoint {
  return { ...row, metrics: parseLossless(metrics_json) as JsonObject }
}

/** Converts a row to a checkpoint. */
export function toStoredCheckpoint(row: StoredCheckpointRow): StoredCheckpoint {
  const { artifact_path: path, artifact_sha256: sha256, artifact_bytes: bytes, ...rest } = row
  const hasArtifact = path !== null && sha256 !== null && bytes !== null
  const { job_id, worker_id, worker_version, ...checkpoint } = rest
  return {
    ...toCheckpoint(checkpoint),
    artifact: hasArtifact ? { path, sha256, bytes } : null,
    job_id,
    worker_id,
    worker_version,
  }
}

/** Returns the columns of an artifact; all null without one. */
export function toArtifactColumns(artifact: Artifact | null) {
  return {
    artifact_path: artifact?.path ?? null,
    artifact_sha256: artifact?.sha256 ?? null,
    artifact_bytes: artifact?.bytes ?? null,
  }
}
