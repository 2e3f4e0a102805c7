/** Preview models in PostgreSQL. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import { ApiError } from '../../../errors.ts'
import type { ModelListing, PreviewModelStore } from '../../api/models/preview-models.ts'
import { placeBefore } from '../../base/db/listing.ts'
import { isShown } from '../../base/models/model-listing.ts'
import * as MODELS from '../../base/models/preview-models.sql.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
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

  async function placeOf(listing: ModelListing) {
    const { after, order } = listing
    if (after === null) return placeBefore(order)
    const cursor = await db.first<PreviewModel>(MODELS.FIND_ANY_PREVIEW_MODEL, { id: after })
    if (cursor === undefined || !isShown(cursor, listing)) {
      throw new ApiError('model_not_found', { param: 'after' })
    }
    return { after_us: cursor.created_at_us, after_id: after }
  }

  return {
    insertModel: (model) => writeTraining(db, (writes) => writes.insert_model(model)),
    async findModel(id) {
      return (await db.first<PreviewModel>(MODELS.FIND_PREVIEW_MODEL, { id })) ?? null
    },
    async listModels(listing) {
      const { order, name, count } = listing
      const taken: PreviewModel[] = []
      let place = await placeOf(listing)
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
