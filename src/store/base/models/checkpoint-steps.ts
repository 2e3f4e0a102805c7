/** Reads and rows of checkpoints in SQLite and PostgreSQL alike. */
import { parseLossless } from '../../../domain/json/json-text.ts'
import type { Artifact, Checkpoint, StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import { ApiError } from '../../../errors.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'
import type { CheckpointListing } from '../../api/models/checkpoints.ts'
import { all, first, type Steps } from '../db/steps.ts'
import * as SQL from './checkpoints.sql.ts'

/** Cursors before the first and after the last step. */
const BEFORE_ALL = { asc: -1, desc: Number.MAX_SAFE_INTEGER } as const

/** Returns a checkpoint, deleted or not. */
export function* findCheckpoint(id: string | null): Steps<StoredCheckpoint | null> {
  return id === null ? null : yield* find(SQL.FIND_CHECKPOINT, { id })
}

/** Returns a checkpoint that is not deleted. @param step - 'latest': the one of the highest step */
export function findStep(
  model_id: string,
  step: number | 'latest',
): Steps<StoredCheckpoint | null> {
  return step === 'latest'
    ? find(SQL.FIND_LATEST_STEP, { model_id })
    : find(SQL.FIND_STEP, { model_id, step })
}

function* find(sql: string, parameters: object): Steps<StoredCheckpoint | null> {
  const row = yield* first<StoredCheckpointRow>(sql, parameters)
  return row === undefined ? null : toStoredCheckpoint(row)
}

/** See the contract. */
export function* listCheckpoints(listing: CheckpointListing): Steps<Checkpoint[]> {
  const { model_id, order, count } = listing
  const after_step = yield* stepOfCursor(listing)
  const place = { model_id, after_step, count }
  const rows = yield* all<CheckpointRow>(SQL.selectCheckpoints(order), place)
  return rows.map(toCheckpoint)
}

function* stepOfCursor({ model_id, after, order }: CheckpointListing): Steps<number> {
  if (after === null) return BEFORE_ALL[order]
  const key = { model_id, id: after }
  const cursor = yield* first<{ step: number }>(SQL.FIND_CHECKPOINT_STEP, key)
  if (cursor === undefined) throw new ApiError('checkpoint_not_found', { param: 'after' })
  return cursor.step
}

interface CheckpointRow extends Omit<Checkpoint, 'metrics'> {
  readonly metrics_json: string
}

/** A row with the columns of the artifact and of the worker. */
interface StoredCheckpointRow extends CheckpointRow {
  readonly job_id: string | null
  readonly artifact_path: string | null
  readonly artifact_sha256: string | null
  readonly artifact_bytes: number | null
  readonly worker_id: string | null
  readonly worker_version: string | null
}

function toCheckpoint({ metrics_json, ...row }: CheckpointRow): Checkpoint {
  return { ...row, metrics: parseLossless(metrics_json) as JsonObject }
}

/** Converts a row to a checkpoint. */
function toStoredCheckpoint(row: StoredCheckpointRow): StoredCheckpoint {
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
