/** Preview models in SQLite. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import { ApiError } from '../../../errors.ts'
import type { ModelListing, PreviewModelStore } from '../../api/models/preview-models.ts'
import { placeBefore, takeAccepted } from '../../base/db/listing.ts'
import { isShown } from '../../base/models/model-listing.ts'
import * as BASE from '../../base/models/preview-models.sql.ts'
import type { JobBell } from '../../base/training/job-bell.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'
import type { CheckpointArtifacts } from './checkpoint-artifacts.ts'
import * as SQL from './preview-models.sql.ts'

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
  const findById = db.prepare(BASE.FIND_PREVIEW_MODEL)
  const findCursor = db.prepare(BASE.FIND_ANY_PREVIEW_MODEL)
  const list = {
    asc: db.prepare(SQL.LIST_PREVIEW_MODELS_ASC),
    desc: db.prepare(SQL.LIST_PREVIEW_MODELS_DESC),
  }
  const listNamed = {
    asc: db.prepare(SQL.LIST_NAMED_MODELS_ASC),
    desc: db.prepare(SQL.LIST_NAMED_MODELS_DESC),
  }

  function placeOf(listing: ModelListing) {
    const { after, order } = listing
    if (after === null) return placeBefore(order)
    const cursor = findCursor.get({ id: after }) as PreviewModel | undefined
    if (cursor === undefined || !isShown(cursor, listing)) {
      throw new ApiError('model_not_found', { param: 'after' })
    }
    return { after_us: cursor.created_at_us, after_id: after }
  }

  return {
    insertModel: (model) => writes.run('insert_model', model),
    async findModel(id) {
      return orStoreError(() => (findById.get({ id }) as PreviewModel | undefined) ?? null)
    },
    async listModels(listing) {
      const { order, name, count } = listing
      return orStoreError(() => {
        const place = placeOf(listing)
        const rows =
          name === null ? list[order].iterate(place) : listNamed[order].iterate({ ...place, name })
        return takeAccepted(rows as Iterable<PreviewModel>, count, (model) =>
          isShown(model, listing),
        )
      })
    },
    async deleteModel(id, now_us) {
      const hidden = await writes.run('delete_model', { id, now_us })
      if (hidden === null) return null
      await artifacts.removeUnused(hidden)
      bell.ring()
      return hidden.length
    },
  }
}
