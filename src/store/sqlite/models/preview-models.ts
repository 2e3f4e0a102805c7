/** Preview models in SQLite. */
import type { PreviewModelStore } from '../../api/models/preview-models.ts'
import { findModel, listModels } from '../../base/models/model-listing.ts'
import type { JobBell } from '../../base/training/job-bell.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { Writes } from '../write/writes.ts'
import type { CheckpointArtifacts } from './checkpoint-artifacts.ts'

interface PreviewModelParts {
  readonly bell: JobBell
  readonly artifacts: CheckpointArtifacts
}

/** @param db - for reads on this thread */
export function createPreviewModelStore(
  db: Connection,
  writes: Writes,
  { bell, artifacts }: PreviewModelParts,
): PreviewModelStore {
  const read = createStepReader(db)

  return {
    insertModel: (model) => writes.run('insert_model', model),
    findModel: (id) => read(findModel(id)),
    listModels: (listing) => read(listModels(listing)),
    async deleteModel(id, now_us) {
      const hidden = await writes.run('delete_model', { id, now_us })
      if (hidden === null) return null
      await artifacts.removeUnused(hidden)
      bell.ring()
      return hidden.length
    },
  }
}
