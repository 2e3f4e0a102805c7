/** The stores of preview models and of their checkpoints' rows, in SQLite and PostgreSQL alike. */
import { canUseProject } from '../../../domain/access/permissions.ts'
import { modelProjectId, type PreviewModel } from '../../../domain/models/preview-model.ts'
import { ApiError } from '../../../errors.ts'
import type {
  CheckpointStore,
  ModelListing,
  PreviewModelStore,
} from '../../api/models/checkpoints.ts'
import { cursorBehind, listParts } from '../db/listing.ts'
import { all, first, type Steps } from '../db/steps.ts'
import type { TrainingParts } from '../training/training-writes.ts'
import { findStep, listCheckpoints } from './checkpoint-steps.ts'
import { FIND_ANY_PREVIEW_MODEL, FIND_PREVIEW_MODEL, selectModels } from './preview-models.sql.ts'

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

/** Returns a model that is not deleted, or null. */
function* findModel(id: string): Steps<PreviewModel | null> {
  return (yield* first<PreviewModel>(FIND_PREVIEW_MODEL, { id })) ?? null
}

/** See the contract. */
function* listModels(listing: ModelListing): Steps<PreviewModel[]> {
  const { order, name, count } = listing
  const ofName = name === null ? {} : { name }
  return yield* listParts(yield* findCursor(listing), count, function* (last, limit) {
    const parameters = { ...cursorBehind(last, order), ...ofName, limit }
    const rows = yield* all<PreviewModel>(selectModels(order, name !== null), parameters)
    return { rows, shown: rows.filter((model) => isShown(model, listing)) }
  })
}

/** Returns the model after which a list begins; null: at its beginning. @throws ApiError model_not_found */
function* findCursor(listing: ModelListing): Steps<PreviewModel | null> {
  const { after } = listing
  if (after === null) return null
  const cursor = yield* first<PreviewModel>(FIND_ANY_PREVIEW_MODEL, { id: after })
  if (cursor !== undefined && isShown(cursor, listing)) return cursor
  throw new ApiError('model_not_found', { param: 'after' })
}

function isShown(
  model: PreviewModel,
  { project_id, projects, base_models }: ModelListing,
): boolean {
  const own = modelProjectId(model)
  if (project_id !== null && own !== project_id) return false
  if (base_models !== null && !base_models.includes(model.base_model)) return false
  return canUseProject({ projects }, own)
}

export function createCheckpointRows({
  runs: { read, write },
  removeUnused,
}: Omit<TrainingParts, 'notifier'>): Omit<CheckpointStore, 'openArtifact'> {
  return {
    insertCheckpoint: (checkpoint) => write('insert_checkpoint', checkpoint),
    async deleteSteps(model_id, steps, deleted_at_us) {
      const deletion = { model_id, steps, deleted_at_us }
      const { paths, ...deleted } = await write('delete_steps', deletion)
      await removeUnused(paths)
      return deleted
    },
    listCheckpoints: (listing) => read(listCheckpoints(listing)),
    findCheckpoint: (model_id, step) => read(findStep(model_id, step)),
  }
}
