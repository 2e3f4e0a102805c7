/** Removes what a crash has left between files and rows: the file always comes first, and goes last. */
import type { CheckpointArtifacts } from '../models/checkpoint-artifacts.ts'
import type { TrainingPayloads } from '../training/training-payloads.ts'
import type { Connection } from './connection.ts'
import type { FileFolder } from './file-folder.ts'
import * as SQL from './sweep.sql.ts'

export interface SweptParts {
  readonly payloads: TrainingPayloads
  /** Uploaded files. */
  readonly folder: FileFolder
  readonly artifacts: CheckpointArtifacts
}

/** @returns sweeps once and tells how many files it removed */
export function createSweep(
  db: Connection,
  { payloads, folder, artifacts }: SweptParts,
): () => Promise<number> {
  return async () => {
    const payloadPaths = new Set(db.prepare(SQL.LIST_PAYLOAD_PATHS).pluck().all())
    const filePaths = new Set(db.prepare(SQL.LIST_FILE_PATHS).pluck().all())
    const removed = [
      await payloads.sweep((path) => payloadPaths.has(path)),
      await folder.sweep((path) => filePaths.has(path)),
      await artifacts.folder.sweep(artifacts.isUsed),
    ]
    return removed.reduce((sum, count) => sum + count, 0)
  }
}
