/**
 * Routes of the training preview. Spec: §4.8, §4.9; `POST /v1/preview/models` is an addition.
 * Jobs are taken in and kept here; nothing here runs them.
 */
import { constants } from 'node:buffer'
import { v7 as uuidv7 } from 'uuid'
import { renderCheckpointPage, resolveCheckpointQuery } from '../domain/checkpoint.ts'
import { parseIdempotencyKey } from '../domain/idempotency-key.ts'
import { rowsToRead } from '../domain/page.ts'
import { requireAccess, requireScope } from '../domain/permissions.ts'
import {
  modelProjectId,
  renderModel,
  requireUsableModel,
  requireWantedModel,
  resolveNewModel,
} from '../domain/preview-model.ts'
import { renderJob, resolveNewJob } from '../domain/training-job.ts'
import type { App } from '../http/app-type.ts'
import {
  CheckpointListParams,
  CheckpointListQuery,
  CheckpointListResponse,
} from '../schemas/checkpoint.ts'
import { PreviewModelCreateRequest, PreviewModelResponse } from '../schemas/preview-model.ts'
import {
  TrainingJobCreateHeaders,
  TrainingJobCreateRequest,
  TrainingJobResponse,
} from '../schemas/training-job.ts'
import type { CheckpointStore } from '../store/api/checkpoints.ts'
import type { PreviewModelStore } from '../store/api/preview-models.ts'
import type { TrainingJobStore } from '../store/api/training-jobs.ts'

export interface PreviewRoutesOptions {
  readonly models: PreviewModelStore
  readonly jobs: TrainingJobStore
  readonly checkpoints: CheckpointStore
  readonly trainingBodyBytesMax: number
  /** Microseconds since the epoch; never goes back. */
  readonly nowUs: () => number
}

export async function previewRoutes(app: App, options: PreviewRoutesOptions): Promise<void> {
  // Before the body is read: a key without the scope must not send 256 MiB for nothing.
  app.addHook('onRequest', async (request) => {
    requireScope(request.principal, 'training')
  })
  modelRoute(app, options)
  trainingJobRoute(app, options)
  checkpointRoute(app, options)
}

function modelRoute(app: App, { models, nowUs }: PreviewRoutesOptions): void {
  app.post(
    '/v1/preview/models',
    {
      schema: {
        tags: ['preview'],
        summary: 'Make a model to be trained (addition to the spec).',
        body: PreviewModelCreateRequest,
        response: { 200: PreviewModelResponse },
      },
    },
    async (request) => {
      const { svc_user_id } = requireScope(request.principal, 'training')
      const defaults = { id: uuidv7(), svc_user_id, created_at_us: nowUs() }
      const wanted = resolveNewModel(request.body, defaults)
      requireAccess(request.principal, 'training', modelProjectId(wanted))
      const stored = await models.insertModel(wanted)
      return renderModel(requireWantedModel(stored, wanted, request.body.return_existing ?? false))
    },
  )
}

function trainingJobRoute(
  app: App,
  { models, jobs, trainingBodyBytesMax, nowUs }: PreviewRoutesOptions,
): void {
  app.post(
    '/v1/preview/training-jobs',
    {
      // Limit: a longer body could not become one string.
      bodyLimit: Math.min(trainingBodyBytesMax, constants.MAX_STRING_LENGTH),
      config: { keepsBodyText: true },
      schema: {
        tags: ['preview'],
        summary: 'Queue a training job; the answer follows the durable commit.',
        headers: TrainingJobCreateHeaders,
        body: TrainingJobCreateRequest,
        response: { 200: TrainingJobResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'training')
      const idempotency_key = parseIdempotencyKey(request.headers['idempotency-key'])
      const found = await models.findModel(request.body.model_id.toLowerCase())
      const { id: model_id } = requireUsableModel(found, caller)
      const { job, payload } = resolveNewJob(request.body, request.bodyText ?? '', {
        id: uuidv7(),
        model_id,
        idempotency_key,
        created_at_us: nowUs(),
        svc_user_id: caller.svc_user_id,
      })
      return renderJob(await jobs.insertJob(job, payload))
    },
  )
}

function checkpointRoute(app: App, { models, checkpoints }: PreviewRoutesOptions): void {
  app.get(
    '/v1/preview/models/:model_id/checkpoints',
    {
      schema: {
        tags: ['preview'],
        summary: 'List the checkpoints of a model by step.',
        params: CheckpointListParams,
        querystring: CheckpointListQuery,
        response: { 200: CheckpointListResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'training')
      const { after, limit, order } = resolveCheckpointQuery(request.query)
      const found = await models.findModel(request.params.model_id.toLowerCase())
      const { id: model_id } = requireUsableModel(found, caller)
      const count = rowsToRead(limit)
      const rows = await checkpoints.listCheckpoints({ model_id, after, order, count })
      return renderCheckpointPage(rows, limit)
    },
  )
}
