/** Preview models in SQLite. */
import type { PreviewModel } from '../../domain/preview-model.ts'
import type { PreviewModelStore } from '../api/preview-models.ts'
import type { Connection } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import * as SQL from './sql/preview-models.ts'
import { toStoreError } from './store-error.ts'

export function createPreviewModelStore(db: Connection, commit: GroupCommit): PreviewModelStore {
  const insertModel = db.prepare(SQL.INSERT_PREVIEW_MODEL)
  const findByName = db.prepare(SQL.FIND_PREVIEW_MODEL_BY_NAME)
  const findById = db.prepare(SQL.FIND_PREVIEW_MODEL)

  return {
    insertModel: (model) =>
      commit.write(() => {
        insertModel.run(model)
        return findByName.get(model) as PreviewModel
      }),
    async findModel(id) {
      try {
        return (findById.get({ id }) as PreviewModel | undefined) ?? null
      } catch (error) {
        throw toStoreError(error)
      }
    },
  }
}
