/** Preview models in PostgreSQL. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import { cancelJob } from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import type { ModelListing, PreviewModelStore } from '../../api/models/preview-models.ts'
import { placeBefore } from '../../base/db/listing.ts'
import * as CHECKPOINTS from '../../base/models/checkpoints.sql.ts'
import { isShown } from '../../base/models/model-listing.ts'
import * as MODELS from '../../base/models/preview-models.sql.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { moveJobs } from '../training/job-moves.ts'
import type { QueueBell } from '../training/queue-bell.ts'
import { NOTIFY_QUEUE } from '../training/training-queue.sql.ts'
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
    insertModel: (model) =>
      moveJobs(db, async ({ tx }) => {
        await tx.run(MODELS.INSERT_PREVIEW_MODEL, { ...model })
        const found = await tx.first<PreviewModel>(MODELS.FIND_PREVIEW_MODEL_BY_NAME, { ...model })
        return found as PreviewModel
      }),
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
      const hidden = await moveJobs(db, async (moves) => {
        const { tx } = moves
        const deleted = await tx.run(MODELS.DELETE_PREVIEW_MODEL, { id, deleted_at_us: now_us })
        if (deleted === 0) return null
        for (const job of await moves.listUnfinished(id)) {
          await moves.save(job, cancelJob(job, 'The model was deleted.', now_us), now_us)
        }
        await tx.all(NOTIFY_QUEUE)
        const steps = { model_id: id, deleted_at_us: now_us }
        return tx.all<{ artifact_path: string | null }>(CHECKPOINTS.DELETE_ALL_STEPS, steps)
      })
      if (hidden === null) return null
      await blobs.removeUnused(hidden.map(({ artifact_path }) => artifact_path))
      bell.ring()
      return hidden.length
    },
  }
}
