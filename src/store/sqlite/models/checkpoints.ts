/** Checkpoints in SQLite, their weights in files. */

import { parseLossless } from '../../../domain/json/json-text.ts'
import type { Checkpoint, StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import { ApiError } from '../../../errors.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'
import type { CheckpointListing, CheckpointStore } from '../../api/checkpoints.ts'
import type { Connection } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'
import type { CheckpointArtifacts } from './checkpoint-artifacts.ts'
import * as SQL from './checkpoints.sql.ts'

/** Steps before the first and behind the last. */
const BEFORE_ALL = { asc: -1, desc: Number.MAX_SAFE_INTEGER } as const

interface CheckpointRow extends Omit<Checkpoint, 'metrics'> {
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

/** @param db - for what is read here */
export function createCheckpointStore(
  db: Connection,
  writes: Writes,
  artifacts: CheckpointArtifacts,
): CheckpointStore {
  const findCursor = db.prepare(SQL.FIND_CHECKPOINT_STEP)
  const findStep = db.prepare(SQL.FIND_STEP)
  const findLatest = db.prepare(SQL.FIND_LATEST_STEP)
  const list = {
    asc: db.prepare(SQL.LIST_CHECKPOINTS_ASC),
    desc: db.prepare(SQL.LIST_CHECKPOINTS_DESC),
  }

  function stepOfCursor({ model_id, after, order }: CheckpointListing): number {
    if (after === null) return BEFORE_ALL[order]
    const cursor = findCursor.get({ model_id, id: after }) as { step: number } | undefined
    if (cursor === undefined) throw new ApiError('checkpoint_not_found', { param: 'after' })
    return cursor.step
  }

  return {
    insertCheckpoint: (checkpoint) => writes.run('insert_checkpoint', checkpoint),
    async deleteSteps(model_id, steps, deleted_at_us) {
      const { paths, ...deleted } = await writes.run('delete_steps', {
        model_id,
        steps,
        deleted_at_us,
      })
      await artifacts.removeUnused(paths)
      return deleted
    },
    async listCheckpoints(listing) {
      const { model_id, order, count } = listing
      try {
        const after_step = stepOfCursor(listing)
        const rows = list[order].all({ model_id, after_step, count }) as CheckpointRow[]
        return rows.map(toCheckpoint)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async findCheckpoint(model_id, step) {
      try {
        const row =
          step === 'latest' ? findLatest.get({ model_id }) : findStep.get({ model_id, step })
        return row === undefined ? null : toStoredCheckpoint(row as StoredCheckpointRow)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    locateArtifact: ({ path }) => artifacts.folder.locate(path),
    async openArtifact({ path }) {
      try {
        return await artifacts.folder.openReader(path)
      } catch (cause) {
        throw new ApiError('checkpoint_not_found', { cause })
      }
    },
  }
}

function toCheckpoint({ metrics_json, ...row }: CheckpointRow): Checkpoint {
  return { ...row, metrics: parseLossless(metrics_json) as JsonObject }
}

/** A checkpoint out of its row. */
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
