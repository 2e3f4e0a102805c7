/** The files of checkpoints, and the removal of unused ones. */
import { join } from 'node:path'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { Connection } from '../db/connection.ts'
import { ARTIFACTS_DIRECTORY, type FileFolder } from '../files/file-folder.ts'
import * as SQL from './checkpoints.sql.ts'

export interface CheckpointArtifacts {
  readonly folder: FileFolder
  /** Returns the path of an attempt's artifact, relative to the data directory. @param unique - never used before */
  pathOf(job: Pick<TrainingJob, 'id' | 'model_id'>, unique: string): string
  isUsed(path: string): boolean
  /**
   * Removes those files that no visible checkpoint has and no running job needs. Never fails: a leftover file is
   * removed at the next start.
   */
  removeUnused(paths: readonly (string | null)[]): Promise<void>
}

/** @param db - for reads on this thread */
export function createCheckpointArtifacts(db: Connection, folder: FileFolder): CheckpointArtifacts {
  const isArtifactUsed = db.prepare(SQL.IS_ARTIFACT_USED).pluck()
  const isUsed = (path: string) => isArtifactUsed.get({ path }) === 1

  /** False also when the database cannot be read. */
  function isKnownUnused(path: string): boolean {
    try {
      return db.open && !isUsed(path)
    } catch {
      return false
    }
  }

  return {
    folder,
    pathOf: ({ id, model_id }, unique) => join(ARTIFACTS_DIRECTORY, model_id, `${id}.${unique}`),
    isUsed,
    async removeUnused(paths) {
      for (const path of new Set(paths)) {
        if (path !== null && isKnownUnused(path)) await folder.remove(path)
      }
    },
  }
}
