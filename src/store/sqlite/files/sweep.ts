/**
 * Removes files that a crash has left without rows: a file is always created before its row and removed after it.
 * Counts rows whose files are missing, which no crash can cause.
 */
import type { MissingFiles } from '../../api/health.ts'
import type { Connection } from '../db/connection.ts'
import type { CheckpointArtifacts } from '../models/checkpoint-artifacts.ts'
import type { FileFolder } from './file-folder.ts'
import * as SQL from './sweep.sql.ts'

interface SweptParts {
  /** Payloads of training jobs. */
  readonly payloads: FileFolder
  /** Uploaded files. */
  readonly folder: FileFolder
  readonly artifacts: CheckpointArtifacts
}

/** @returns a function that sweeps once and returns what is missing */
export function createSweep(
  db: Connection,
  { payloads, folder, artifacts }: SweptParts,
): () => Promise<MissingFiles> {
  const list = (sql: string) => new Set(db.prepare(sql).pluck().all() as string[])
  return async () => {
    const payloadPaths = list(SQL.LIST_PAYLOAD_PATHS)
    const filePaths = list(SQL.LIST_FILE_PATHS)
    return {
      training_payloads: await payloads.sweep((path) => payloadPaths.has(path), payloadPaths),
      files: await folder.sweep((path) => filePaths.has(path), filePaths),
      artifacts: await artifacts.folder.sweep(artifacts.isUsed, list(SQL.LIST_ARTIFACT_PATHS)),
    }
  }
}
