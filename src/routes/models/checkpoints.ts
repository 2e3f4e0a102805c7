/** Checkpoints of a model. Spec: §4.9; all but the list are additions. */
import type { Principal } from '../../domain/access/permissions.ts'
import {
  parseStep,
  renderCheckpointDetail,
  renderCheckpointPage,
  type StoredCheckpoint,
} from '../../domain/models/checkpoint.ts'
import { modelProjectId, type PreviewModel } from '../../domain/models/preview-model.ts'
import { resolvePageQuery, rowsToRead } from '../../domain/query/page.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { bytesResponse } from '../../http/document/responses.ts'
import {
  CheckpointDeleteRequest,
  CheckpointDeleteResponse,
  CheckpointDetail,
  CheckpointListQuery,
  CheckpointListResponse,
  CheckpointParams,
} from '../../schemas/models/checkpoint.ts'
import { PreviewModelParams } from '../../schemas/models/preview-model.ts'
import type { PreviewModelStore } from '../../store/api/models/checkpoints.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import { requireModel } from './preview-models.ts'

export interface CheckpointRoutesOptions
  extends Pick<Stores, 'audit' | 'checkpoints'>,
    Pick<Clock, 'nowUs'> {
  readonly models: PreviewModelStore
}

const tags = ['preview']
const url = '/v1/preview/models/:model_id/checkpoints'

export async function checkpointRoutes(app: App, options: CheckpointRoutesOptions): Promise<void> {
  addList(app, options)
  addDelete(app, options)
  addGet(app, options)
  addDownload(app, options)
}

/** Returns the checkpoint named by a path. @throws ApiError checkpoint_not_found, and what requireModel throws */
async function requireCheckpoint(
  principal: Principal | null,
  params: { readonly model_id: string; readonly step: string },
  { models, checkpoints }: CheckpointRoutesOptions,
) {
  const model = await requireModel(principal, params.model_id, models)
  const step = parseStep(params.step)
  const checkpoint = step === null ? null : await checkpoints.findCheckpoint(model.id, step)
  if (checkpoint === null) throw new ApiError('checkpoint_not_found', { param: 'step' })
  return { model, checkpoint }
}

function addList(app: App, { models, checkpoints }: CheckpointRoutesOptions): void {
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listCheckpoints',
        summary: 'List the checkpoints of a model by step.',
        params: PreviewModelParams,
        querystring: CheckpointListQuery,
        response: { 200: CheckpointListResponse },
      },
    },
    async (request) => {
      const { after, limit, order } = resolvePageQuery(request.query)
      const { model_id } = request.params
      const model = await requireModel(request.principal, model_id, models)
      const count = rowsToRead(limit)
      const listing = { model_id: model.id, after, order, count }
      return renderCheckpointPage(await checkpoints.listCheckpoints(listing), limit)
    },
  )
}

function addDelete(app: App, { audit, models, checkpoints, nowUs }: CheckpointRoutesOptions): void {
  app.delete(
    url,
    {
      schema: {
        tags,
        operationId: 'deleteCheckpoints',
        summary: 'Delete checkpoints by their steps (addition to the spec).',
        params: PreviewModelParams,
        body: CheckpointDeleteRequest,
        response: { 200: CheckpointDeleteResponse },
      },
    },
    async (request) => {
      const { model_id } = request.params
      const model = await requireModel(request.principal, model_id, models)
      const { steps } = request.body
      const act = { action: 'checkpoints.delete', project_id: modelProjectId(model) } as const
      await recordBefore(audit, request, { ...act, subject_id: model.id, before: { steps } })
      return checkpoints.deleteSteps(model.id, steps, nowUs())
    },
  )
}

function addGet(app: App, options: CheckpointRoutesOptions): void {
  app.get(
    `${url}/:step`,
    {
      schema: {
        tags,
        operationId: 'readCheckpoint',
        summary: 'Read one checkpoint (addition to the spec).',
        params: CheckpointParams,
        response: { 200: CheckpointDetail },
      },
    },
    async (request) => {
      const { checkpoint } = await requireCheckpoint(request.principal, request.params, options)
      return renderCheckpointDetail(checkpoint)
    },
  )
}

function addDownload(app: App, options: CheckpointRoutesOptions): void {
  app.get(
    `${url}/:step/artifact`,
    {
      schema: {
        tags,
        operationId: 'downloadCheckpoint',
        summary: 'Download the weights of a checkpoint (addition to the spec).',
        params: CheckpointParams,
        shown: { response: { 200: bytesResponse('The weights as a file.') } },
      },
    },
    async (request, reply) => {
      const found = await requireCheckpoint(request.principal, request.params, options)
      const { artifact } = found.checkpoint
      if (artifact === null) {
        const message = 'The checkpoint has the weights of the base model and no file of its own.'
        throw new ApiError('checkpoint_not_found', { message, param: 'step' })
      }
      const { model, checkpoint } = found
      const act = { action: 'checkpoint.export', project_id: modelProjectId(model) } as const
      const after = { step: checkpoint.step }
      await recordBefore(options.audit, request, { ...act, subject_id: model.id, after })
      return reply
        .type('application/octet-stream')
        .header('content-length', artifact.bytes)
        .header('content-disposition', `attachment; filename="${fileName(found)}"`)
        .header('x-weft-sha256', artifact.sha256)
        .send(await options.checkpoints.openArtifact(artifact))
    },
  )
}

/** Model names have only letters, digits, dots, dashes and underscores, so nothing needs escaping. */
function fileName({ model, checkpoint }: { model: PreviewModel; checkpoint: StoredCheckpoint }) {
  return `${model.name}-step${checkpoint.step}.artifact`
}
