/** Models of the training preview: additions to the spec, which only names their ids. Spec: §2.12 model_id. */
import { randomBytes } from 'node:crypto'
import { type Principal, requireAccess, requireScope } from '../../domain/access/permissions.ts'
import {
  modelProjectId,
  type PreviewModel,
  renderModel,
  requireUsableModel,
  requireWantedModel,
  resolveNewModel,
} from '../../domain/models/preview-model.ts'
import { resolvePageQuery, rowsToRead, toPage } from '../../domain/query/page.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { createOrderedIds } from '../../domain/time/ordered-ids.ts'
import type { App } from '../../http/app-type.ts'
import {
  PreviewModelCreateRequest,
  PreviewModelDeleteResponse,
  PreviewModelListQuery,
  PreviewModelListResponse,
  PreviewModelParams,
  PreviewModelResponse,
} from '../../schemas/models/preview-model.ts'
import type { PreviewModelStore } from '../../store/api/models/checkpoints.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

export interface PreviewModelRoutesOptions extends Pick<Stores, 'audit'> {
  readonly models: PreviewModelStore
  readonly nowUs: Clock['nowUs']
}

const tags = ['preview']
const url = '/v1/preview/models'

export async function previewModelRoutes(
  app: App,
  options: PreviewModelRoutesOptions,
): Promise<void> {
  addCreate(app, options)
  addList(app, options)
  addGet(app, options)
  addDelete(app, options)
}

/** Returns the model named by a path. @throws ApiError missing_api_key, scope_missing, model_not_found */
export async function requireModel(
  principal: Principal | null,
  model_id: string,
  models: PreviewModelStore,
): Promise<PreviewModel> {
  const caller = requireScope(principal, 'training')
  return requireUsableModel(await models.findModel(model_id.toLowerCase()), caller)
}

function addCreate(app: App, { models, nowUs }: PreviewModelRoutesOptions): void {
  const newId = createOrderedIds(nowUs, randomBytes)
  app.post(
    url,
    {
      schema: {
        tags,
        operationId: 'createPreviewModel',
        summary: 'Create a model to train (addition to the spec).',
        body: PreviewModelCreateRequest,
        response: { 200: PreviewModelResponse },
      },
    },
    async (request) => {
      const { svc_user_id } = requireScope(request.principal, 'training')
      const defaults = { id: newId(), svc_user_id, created_at_us: nowUs() }
      const wanted = resolveNewModel(request.body, defaults)
      requireAccess(request.principal, 'training', modelProjectId(wanted))
      const stored = await models.insertModel(wanted)
      return renderModel(requireWantedModel(stored, wanted, request.body.return_existing ?? false))
    },
  )
}

function addList(app: App, { models }: PreviewModelRoutesOptions): void {
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listPreviewModels',
        summary: 'List the models that the key may use (addition to the spec).',
        querystring: PreviewModelListQuery,
        response: { 200: PreviewModelListResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'training')
      const { after, limit, order } = resolvePageQuery(request.query)
      const { name = null, project_id = null } = request.query
      if (project_id !== null) requireAccess(caller, 'training', project_id)
      const found = await models.listModels({
        name,
        after,
        order,
        count: rowsToRead(limit),
        project_id,
        projects: caller.projects,
        base_models: null,
      })
      return toPage(found.map(renderModel), limit)
    },
  )
}

function addGet(app: App, { models }: PreviewModelRoutesOptions): void {
  app.get(
    `${url}/:model_id`,
    {
      schema: {
        tags,
        operationId: 'readPreviewModel',
        summary: 'Read a model (addition to the spec).',
        params: PreviewModelParams,
        response: { 200: PreviewModelResponse },
      },
    },
    async (request) => {
      return renderModel(await requireModel(request.principal, request.params.model_id, models))
    },
  )
}

function addDelete(app: App, { audit, models, nowUs }: PreviewModelRoutesOptions): void {
  app.delete(
    `${url}/:model_id`,
    {
      schema: {
        tags,
        operationId: 'deletePreviewModel',
        summary: 'Delete a model and its checkpoints, and stop its jobs (addition to the spec).',
        params: PreviewModelParams,
        response: { 200: PreviewModelDeleteResponse },
      },
    },
    async (request) => {
      const model = await requireModel(request.principal, request.params.model_id, models)
      const { id: subject_id, name } = model
      const act = { action: 'model.delete', project_id: modelProjectId(model), subject_id } as const
      await recordBefore(audit, request, { ...act, before: { name } })
      const deleted = await models.deleteModel(model.id, nowUs())
      return { model_id: model.id, deleted_checkpoints: deleted ?? 0, deleted_run: false }
    },
  )
}
