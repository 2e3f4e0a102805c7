/** The files of checkpoints: which of them are hidden, and which may be removed. */
import { join } from 'node:path'
import type { Artifact } from '../../../domain/models/checkpoint.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { Connection } from '../db/connection.ts'
import { ARTIFACTS_DIRECTORY, type FileFolder } from '../db/file-folder.ts'
import * as SQL from './checkpoints.sql.ts'

/** What was hidden, and the files it had. */
export interface Hidden {
  readonly count: number
  readonly paths: readonly string[]
}

export interface CheckpointArtifacts {
  readonly folder: FileFolder
  /** Hides all checkpoints of a model, inside a transaction of the caller's. */
  hideAll(model_id: string, deleted_at_us: number): Hidden
  /** Hides the checkpoint of a step, inside a transaction of the caller's; null when there is none. */
  hideStep(model_id: string, step: number, deleted_at_us: number): Hidden | null
  /** A name for the artifact of a job's attempt, relative to the data directory. @param unique - never used before */
  pathOf(job: Pick<TrainingJob, 'id' | 'model_id'>, unique: string): string
  isUsed(path: string): boolean
  /**
   * Removes those files that neither a checkpoint shows nor a running job needs. Never fails: a file that
   * stays is removed at the next start.
   */
  removeUnused(paths: readonly (string | null)[]): Promise<void>
}

interface HiddenRow {
  readonly artifact_path: string | null
}

export function createCheckpointArtifacts(db: Connection, folder: FileFolder): CheckpointArtifacts {
  const deleteAll = db.prepare(SQL.DELETE_ALL_STEPS)
  const deleteStep = db.prepare(SQL.DELETE_STEP)
  const isArtifactUsed = db.prepare(SQL.IS_ARTIFACT_USED).pluck()
  const isUsed = (path: string) => isArtifactUsed.get({ path }) === 1

  return {
    folder,
    hideAll: (model_id, deleted_at_us) =>
      toHidden(deleteAll.all({ model_id, deleted_at_us }) as HiddenRow[]),
    hideStep(model_id, step, deleted_at_us) {
      const rows = deleteStep.all({ model_id, step, deleted_at_us }) as HiddenRow[]
      return rows.length === 0 ? null : toHidden(rows)
    },
    pathOf: ({ id, model_id }, unique) => join(ARTIFACTS_DIRECTORY, model_id, `${id}.${unique}`),
    isUsed,
    async removeUnused(paths) {
      for (const path of new Set(paths)) {
        if (path !== null && db.open && !isUsed(path)) await folder.remove(path)
      }
    },
  }
}

function toHidden(rows: readonly HiddenRow[]): Hidden {
  const paths = rows.flatMap(({ artifact_path }) => artifact_path ?? [])
  return { count: rows.length, paths }
}

/** The columns of an artifact; all null without one. */
export function toArtifactColumns(artifact: Artifact | null) {
  return {
    artifact_path: artifact?.path ?? null,
    artifact_sha256: artifact?.sha256 ?? null,
    artifact_bytes: artifact?.bytes ?? null,
  }
}
