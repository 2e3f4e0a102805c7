/** Preview models in SQLite. */

import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import { cancelJob } from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import type { ModelListing, PreviewModelStore } from '../../api/preview-models.ts'
import type { Connection } from '../db/connection.ts'
import { placeBefore, takeAccepted } from '../db/listing.ts'
import { toStoreError } from '../db/store-error.ts'
import type { JobMoves } from '../training/job-moves.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import type { CheckpointArtifacts } from './checkpoint-artifacts.ts'
import * as SQL from './preview-models.sql.ts'

export interface PreviewModelParts {
  readonly moves: JobMoves
  readonly artifacts: CheckpointArtifacts
}

export function createPreviewModelStore(
  db: Connection,
  commit: GroupCommit,
  { moves, artifacts }: PreviewModelParts,
): PreviewModelStore {
  const insertModel = db.prepare(SQL.INSERT_PREVIEW_MODEL)
  const findByName = db.prepare(SQL.FIND_PREVIEW_MODEL_BY_NAME)
  const findById = db.prepare(SQL.FIND_PREVIEW_MODEL)
  const findCursor = db.prepare(SQL.FIND_PREVIEW_MODEL_CURSOR)
  const deleteModel = db.prepare(SQL.DELETE_PREVIEW_MODEL)
  const list = {
    asc: db.prepare(SQL.LIST_PREVIEW_MODELS_ASC),
    desc: db.prepare(SQL.LIST_PREVIEW_MODELS_DESC),
  }

  function placeOf({ after, order, accepts }: ModelListing) {
    if (after === null) return placeBefore(order)
    const cursor = findCursor.get({ id: after }) as PreviewModel | undefined
    if (cursor === undefined || !accepts(cursor)) {
      throw new ApiError('model_not_found', { param: 'after' })
    }
    return { after_us: cursor.created_at_us, after_id: after }
  }

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
    async listModels(listing) {
      const { order, name, count, accepts } = listing
      try {
        const rows = list[order].iterate({ ...placeOf(listing), name })
        return takeAccepted(rows as Iterable<PreviewModel>, count, accepts)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async deleteModel(id, now_us, newId) {
      const hidden = await commit.write(() => {
        if (deleteModel.run({ id, deleted_at_us: now_us }).changes === 0) return null
        for (const job of moves.listUnfinished(id)) {
          const moved = cancelJob(job, 'The model was deleted.', now_us)
          moves.save(job, moved, { now_us, newId })
        }
        return artifacts.hideAll(id, now_us)
      })
      if (hidden === null) return null
      await artifacts.removeUnused(hidden.paths)
      moves.ring()
      return hidden.count
    },
  }
}
