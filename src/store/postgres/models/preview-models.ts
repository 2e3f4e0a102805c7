/** Preview models in PostgreSQL. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { PreviewModelStore } from '../../api/models/preview-models.ts'
import { findModel, findPlace, isShown } from '../../base/models/model-listing.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import type { QueueBell } from '../training/queue-bell.ts'
import { writeAndNotify, writeTraining } from '../training/training-writes.ts'
import { LIST_PREVIEW_MODELS } from './preview-models.sql.ts'

/** Limit: models of one statement. */
const PART_ROWS = 200

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
    async listModels(listing) {
      const { order, name, count } = listing
      const taken: PreviewModel[] = []
      let place = await runSteps(db, findPlace(listing))
      while (taken.length < count) {
        const parameters = { ...place, name, limit: PART_ROWS }
        const part = await db.all<PreviewModel>(LIST_PREVIEW_MODELS[order], parameters)
        const shown = part.filter((model) => isShown(model, listing))
        taken.push(...shown.slice(0, count - taken.length))
        const last = part.at(-1)
        if (part.length < PART_ROWS || last === undefined) break
        place = { after_us: last.created_at_us, after_id: last.id }
      }
      return taken
    },
    async deleteModel(id, now_us) {
      const hidden = await writeAndNotify(db, (writes) => writes.delete_model({ id, now_us }))
      if (hidden === null) return null
      await blobs.removeUnused(hidden)
      bell.ring()
      return hidden.length
    },
  }
}
