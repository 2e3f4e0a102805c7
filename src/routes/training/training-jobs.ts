/** Training jobs as clients see them. Spec: §4.8; all but the creation are additions. */
import type { Readable } from 'node:stream'
import {
  canUseProject,
  type Principal,
  requireAccess,
  requireScope,
} from '../../domain/access/permissions.ts'
import { modelProjectId } from '../../domain/models/preview-model.ts'
import { resolvePageQuery, rowsToRead } from '../../domain/query/page.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { parseIdempotencyKey } from '../../domain/training/idempotency-key.ts'
import {
  renderEventPage,
  renderJob,
  renderJobDetail,
  renderJobPage,
} from '../../domain/training/training-job-view.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { requireDeclaredBytes } from '../../http/body/declared-bytes.ts'
import {
  TrainingJobCreateHeaders,
  TrainingJobCreateRequest,
  TrainingJobResponse,
} from '../../schemas/training/training-job.ts'
import {
  JobEventListQuery,
  JobEventListResponse,
  TrainingJobDetail,
  TrainingJobListQuery,
  TrainingJobListResponse,
} from '../../schemas/training/training-job-view.ts'
import { JobParams } from '../../schemas/training/worker.ts'
import type { JobView, TrainingJobStore } from '../../store/api/training/training-queue.ts'
import type { AcceptJob } from './accept-job.ts'

export interface TrainingJobRoutesOptions {
  readonly jobs: TrainingJobStore
  readonly acceptJob: AcceptJob
  /** Limit: bytes of a body. */
  readonly trainingBodyBytesMax: number
  readonly nowUs: Clock['nowUs']
}

const tags = ['preview']
const url = '/v1/preview/training-jobs'

export async function trainingJobRoutes(
  app: App,
  options: TrainingJobRoutesOptions,
): Promise<void> {
  await app.register(async (bodies: App) => addCreate(bodies, options))
  addList(app, options)
  addGet(app, options)
  addEvents(app, options)
  addCancel(app, options)
}

function addCreate(
  app: App,
  { acceptJob, trainingBodyBytesMax: bytesMax }: TrainingJobRoutesOptions,
): void {
  app.removeAllContentTypeParsers()
  // The handler reads the bytes: large ones must not become one string on the event loop.
  app.addContentTypeParser('application/json', async (_request: unknown, body: Readable) => body)
  app.addHook('onRequest', async ({ headers }) => {
    requireDeclaredBytes(headers, bytesMax)
  })
  app.post(
    url,
    {
      config: { bodyBytesMax: bytesMax },
      schema: {
        tags,
        operationId: 'createTrainingJob',
        summary: 'Queue a training job; answered after the durable commit.',
        headers: TrainingJobCreateHeaders,
        shown: { body: TrainingJobCreateRequest },
        response: { 200: TrainingJobResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'training')
      const idempotency_key = parseIdempotencyKey(request.headers['idempotency-key'])
      const source = request.body as Readable | undefined
      return renderJob(await acceptJob(source, { caller, idempotency_key }))
    },
  )
}

/**
 * Returns the job named by a path. A job of other projects reads as missing, so that its id cannot be probed.
 *
 * @throws ApiError missing_api_key, scope_missing, training_job_not_found
 */
async function requireJob(
  principal: Principal | null,
  job_id: string,
  jobs: TrainingJobStore,
): Promise<JobView> {
  const caller = requireScope(principal, 'training')
  const view = await jobs.findJobView(job_id.toLowerCase())
  if (view === null || !canUseProject(caller, modelProjectId(view.model))) {
    throw new ApiError('training_job_not_found', { param: 'job_id' })
  }
  return view
}

function addList(app: App, { jobs }: TrainingJobRoutesOptions): void {
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listTrainingJobs',
        summary: 'List training jobs in the order of creation (addition to the spec).',
        querystring: TrainingJobListQuery,
        response: { 200: TrainingJobListResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'training')
      const { after, limit, order } = resolvePageQuery(request.query)
      const { model_id, status, project_id } = request.query
      if (project_id !== undefined) requireAccess(caller, 'training', project_id)
      const views = await jobs.listJobs({
        model_id: model_id ? model_id.toLowerCase() : null,
        status: status ?? null,
        after,
        order,
        count: rowsToRead(limit),
        projects: project_id === undefined ? caller.projects : [project_id],
      })
      return renderJobPage(views, limit)
    },
  )
}

function addGet(app: App, { jobs }: TrainingJobRoutesOptions): void {
  app.get(
    `${url}/:job_id`,
    {
      schema: {
        tags,
        operationId: 'readTrainingJob',
        summary: 'Read a training job with its progress (addition to the spec).',
        params: JobParams,
        response: { 200: TrainingJobDetail },
      },
    },
    async (request) => {
      const { job, result_step } = await requireJob(request.principal, request.params.job_id, jobs)
      return renderJobDetail(job, result_step)
    },
  )
}

function addEvents(app: App, { jobs }: TrainingJobRoutesOptions): void {
  app.get(
    `${url}/:job_id/events`,
    {
      schema: {
        tags,
        operationId: 'listTrainingJobEvents',
        summary: 'List the events of the last attempt of a job (addition to the spec).',
        params: JobParams,
        querystring: JobEventListQuery,
        response: { 200: JobEventListResponse },
      },
    },
    async (request) => {
      const { job } = await requireJob(request.principal, request.params.job_id, jobs)
      const { after, limit } = resolvePageQuery(request.query)
      const listing = { job_id: job.id, after, count: rowsToRead(limit) }
      return renderEventPage(await jobs.listEvents(listing), limit)
    },
  )
}

function addCancel(app: App, { jobs, nowUs }: TrainingJobRoutesOptions): void {
  app.post(
    `${url}/:job_id/cancel`,
    {
      schema: {
        tags,
        operationId: 'cancelTrainingJob',
        summary: 'Cancel a queued job, or ask a running one to stop (addition to the spec).',
        params: JobParams,
        response: { 200: TrainingJobDetail },
      },
    },
    async (request) => {
      const { job } = await requireJob(request.principal, request.params.job_id, jobs)
      await jobs.cancelJob(job.id, nowUs())
      const { job: cancelled, result_step } = await requireJob(request.principal, job.id, jobs)
      return renderJobDetail(cancelled, result_step)
    },
  )
}
