/** Preview models in PostgreSQL. */
import type { PreviewModelStore } from '../../api/models/preview-models.ts'
import { findModel, listModels } from '../../base/models/model-listing.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import type { QueueBell } from '../training/queue-bell.ts'
import { writeAndNotify, writeTraining } from '../training/training-writes.ts'

interface PreviewModelParts {
  readonly db: Postgres
  readonly blobs: Blobs
  readonly bell: QueueBell
}

export function createPreviewModelStore(parts: PreviewModelParts): PreviewModelStore {
  const { db, blobs, bell } = parts

  return {
    insertModel: (model) => writeTraining(db, (writes) => writes.insert_model(model)),
    findModel: (id) => runSteps(db, findModel(id)),
    listModels: (listing) => runSteps(db, listModels(listing)),
    async deleteModel(id, now_us) {
      const hidden = await writeAndNotify(db, (writes) => writes.delete_model({ id, now_us }))
      if (hidden === null) return null
      await blobs.removeUnused(hidden)
      bell.ring()
      return hidden.length
    },
  }
}
