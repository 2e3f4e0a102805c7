/** Preview models in SQLite and PostgreSQL alike. */
import type { PreviewModelStore } from '../../api/models/preview-models.ts'
import type { TrainingParts } from '../training/training-writes.ts'
import { findModel, listModels } from './model-listing.ts'

export function createPreviewModelStore(parts: TrainingParts): PreviewModelStore {
  const { runs, notifier, removeUnused } = parts
  const { read, write } = runs
  return {
    insertModel: (model) => write('insert_model', model),
    findModel: (id) => read(findModel(id)),
    listModels: (listing) => read(listModels(listing)),
    async deleteModel(id, now_us) {
      const hidden = await write('delete_model', { id, now_us })
      if (hidden === null) return null
      await removeUnused(hidden)
      notifier.notify()
      return hidden.length
    },
  }
}
