/** Models of the training preview: creation from a request, lookup and format in the API. Pure. */
import { ApiError } from '../../errors.ts'
import type {
  PreviewModelCreateRequest,
  PreviewModelResponse,
} from '../../schemas/models/preview-model.ts'
import { isProjectId } from '../../schemas/shapes.ts'
import { canUseProject, type Principal } from '../access/permissions.ts'

/** A model to be trained; (entity, project, name) is unique. */
export interface PreviewModel {
  /** A UUID in lower case. */
  readonly id: string
  readonly entity: string
  readonly project: string
  readonly name: string
  readonly base_model: string
  readonly created_at_us: number
  /** svc_user_id of its maker. */
  readonly created_by: string
}

interface ModelDefaults {
  readonly id: string
  readonly svc_user_id: string
  readonly created_at_us: number
}

/** The project that a model belongs to, `<entity>/<project>`. */
export function modelProjectId({
  entity,
  project,
}: Pick<PreviewModel, 'entity' | 'project'>): string {
  return `${entity}/${project}`
}

/**
 * Resolves the model that a client requests.
 *
 * Spec: §2.12 model_id (nothing makes a model). Choice: without an entity it is the caller's own user id,
 * the only name that is certain to be the caller's.
 *
 * @throws ApiError validation_failed when the user id cannot be part of a project id
 */
export function resolveNewModel(
  request: PreviewModelCreateRequest,
  { id, svc_user_id, created_at_us }: ModelDefaults,
): PreviewModel {
  const { project, name, base_model } = request
  const entity = request.entity ?? svc_user_id
  if (!isProjectId(`${entity}/${project}`)) {
    throw new ApiError('validation_failed', {
      message:
        'entity must be given: the user of the key has no name that a project can start with',
      param: 'entity',
    })
  }
  return { id, entity, project, name, base_model, created_at_us, created_by: svc_user_id }
}

/**
 * Accepts a stored model that is the new one, or one that the client agreed to take.
 *
 * Spec: §2.12 model_id. Choice: an existing model of another base is never handed out.
 *
 * @throws ApiError model_conflict, with the header that stops SDKs from trying again
 */
export function requireWantedModel(
  stored: PreviewModel,
  wanted: PreviewModel,
  returnsExisting: boolean,
): PreviewModel {
  const isNew = stored.id === wanted.id
  if (isNew || (returnsExisting && stored.base_model === wanted.base_model)) return stored
  throw new ApiError('model_conflict', {
    param: returnsExisting ? 'base_model' : 'name',
    headers: { 'x-should-retry': 'false' },
  })
}

/**
 * Refuses a model that does not exist or belongs to a project that the caller may not use; both read
 * the same, so that ids of others cannot be probed.
 *
 * @throws ApiError model_not_found
 */
export function requireUsableModel(model: PreviewModel | null, caller: Principal): PreviewModel {
  if (model === null || !canUseProject(caller, modelProjectId(model))) {
    throw new ApiError('model_not_found', { param: 'model_id' })
  }
  return model
}

/** A model as the API shows it. */
export function renderModel(model: PreviewModel): PreviewModelResponse {
  const { id, entity, project, name, base_model } = model
  return { id, entity, project, name, base_model, run_id: null }
}
