/** Preview models in SQLite. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { PreviewModelStore } from '../../api/models/preview-models.ts'
import { takeAccepted } from '../../base/db/listing.ts'
import { findModel, findPlace, isShown } from '../../base/models/model-listing.ts'
import type { JobBell } from '../../base/training/job-bell.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader, createStepRunner } from '../db/run-steps.ts'
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
  const run = createStepRunner(db)
  const read = createStepReader(db)
  const list = {
    asc: db.prepare(SQL.LIST_PREVIEW_MODELS_ASC),
    desc: db.prepare(SQL.LIST_PREVIEW_MODELS_DESC),
  }
  const listNamed = {
    asc: db.prepare(SQL.LIST_NAMED_MODELS_ASC),
    desc: db.prepare(SQL.LIST_NAMED_MODELS_DESC),
  }

  return {
    insertModel: (model) => writes.run('insert_model', model),
    findModel: (id) => read(findModel(id)),
    async listModels(listing) {
      const { order, name, count } = listing
      return orStoreError(() => {
        const place = run(findPlace(listing))
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
