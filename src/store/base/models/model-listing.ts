/** Finds a model, and decides which models a list shows, in SQLite and PostgreSQL alike. */
import { canUseProject } from '../../../domain/access/permissions.ts'
import { modelProjectId, type PreviewModel } from '../../../domain/models/preview-model.ts'
import { ApiError } from '../../../errors.ts'
import type { ModelListing } from '../../api/models/preview-models.ts'
import { placeBefore } from '../db/listing.ts'
import { first, type Steps } from '../db/steps.ts'
import { FIND_ANY_PREVIEW_MODEL, FIND_PREVIEW_MODEL } from './preview-models.sql.ts'

/** Returns a model that is not deleted, or null. */
export function* findModel(id: string): Steps<PreviewModel | null> {
  return (yield* first<PreviewModel>(FIND_PREVIEW_MODEL, { id })) ?? null
}

/** Returns the place at which a list begins. @throws ApiError model_not_found */
export function* findPlace(listing: ModelListing): Steps<ReturnType<typeof placeBefore>> {
  const { after, order } = listing
  if (after === null) return placeBefore(order)
  const cursor = yield* first<PreviewModel>(FIND_ANY_PREVIEW_MODEL, { id: after })
  if (cursor === undefined || !isShown(cursor, listing)) {
    throw new ApiError('model_not_found', { param: 'after' })
  }
  return { after_us: cursor.created_at_us, after_id: after }
}

export function isShown(
  model: PreviewModel,
  { project_id, projects, base_models }: ModelListing,
): boolean {
  const own = modelProjectId(model)
  if (project_id !== null && own !== project_id) return false
  if (base_models !== null && !base_models.includes(model.base_model)) return false
  return canUseProject({ projects }, own)
}
