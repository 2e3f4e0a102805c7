/** Training jobs made of recorded calls and their feedback. An addition to the spec. */
import { Readable } from 'node:stream'
import { requireAccess } from '../../domain/access/permissions.ts'
import { modelProjectId, type PreviewModel } from '../../domain/models/preview-model.ts'
import { parseIdempotencyKey } from '../../domain/training/idempotency-key.ts'
import { shuffleRewards } from '../../domain/training/traffic/shuffled-rewards.ts'
import { renderTaskExamples } from '../../domain/training/traffic/trajectory-examples.ts'
import type { BuiltGroup, BuiltGroups } from '../../domain/training/traffic/trajectory-groups.ts'
import { renderJob } from '../../domain/training/training-job-view.ts'
import { refuseField } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import {
  TrainingFromCallsRequest,
  TrainingFromCallsResponse,
} from '../../schemas/training/training-from-calls.ts'
import { TrainingJobCreateHeaders } from '../../schemas/training/training-job.ts'
import type { PreviewModelStore } from '../../store/api/models/checkpoints.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import { requireModel } from '../models/preview-models.ts'
import type { AcceptJob } from './accept-job.ts'
import { readTrajectories, type TrajectorySourceOptions } from './trajectory-source.ts'

export interface JobsFromCallsOptions extends TrajectorySourceOptions, Pick<Stores, 'audit'> {
  readonly models: PreviewModelStore
  readonly acceptJob: AcceptJob
}

/** Limit: characters of what says which calls, which jobs are listed with. */
const SOURCE_CHARS_MAX = 65_536

export async function jobsFromCallsRoutes(
  app: App,
  { audit, models, acceptJob, ...options }: JobsFromCallsOptions,
): Promise<void> {
  app.post(
    '/v1/preview/training-jobs/from-calls',
    {
      schema: {
        tags: ['preview'],
        operationId: 'createTrainingJobFromCalls',
        summary:
          'Show what recorded chats and their feedback would train, or queue that job (addition to the spec).',
        headers: TrainingJobCreateHeaders,
        body: TrainingFromCallsRequest,
        response: { 200: TrainingFromCallsResponse },
      },
    },
    async (request, reply) => {
      const { model_id, start, shuffle_seed, experimental_config, ...sent } = request.body
      const caller = requireAccess(request.principal, 'training', sent.project_id)
      const idempotency_key = parseIdempotencyKey(request.headers['idempotency-key'])
      if (start && !model_id) refuseField('model_id', 'is required to start a job')
      const model = model_id ? await requireModel(request.principal, model_id, models) : null
      const ofModel = model && [model.name, model.base_model]
      const source = { ...sent, models: sent.models ?? ofModel }
      if (start && JSON.stringify(source).length > SOURCE_CHARS_MAX) {
        refuseField(
          'filter',
          `and query may have ${SOURCE_CHARS_MAX} characters where a job starts`,
        )
      }
      const from = { request, reply, isTrainableOnly: true }
      const built = await readTrajectories(source, from, options)
      const training = shuffleRewards(built.training, shuffle_seed ?? null)
      const shown = { stats: built.stats, examples: renderTaskExamples(training) }
      if (!start || model === null) return { job: null, ...shown }
      requireRollouts(built)
      const after = { project_id: source.project_id, ...built.stats }
      const act = { action: 'training_job.create', project_id: modelProjectId(model) } as const
      await recordBefore(audit, request, { ...act, subject_id: model.id, after })
      const body = Readable.from(renderBody(model, training, experimental_config ?? null))
      const sender = { caller, idempotency_key, source: { ...source, shuffle_seed } }
      return { job: renderJob(await acceptJob(body, sender)), ...shown }
    },
  )
}

/** @throws ApiError validation_failed with the reasons why nothing is left */
function requireRollouts({ stats }: BuiltGroups): void {
  if (stats.groups > 0) return
  const reasons = Object.entries(stats.left_out).filter(([, count]) => count > 0)
  const told = reasons.map(([reason, count]) => `${count} ${reason}`)
  if (stats.held_out_groups > 0) told.push(`${stats.held_out_trajectories} held out`)
  const why = told.length === 0 ? 'no call matches' : told.join(', ')
  refuseField('start', `needs rollouts to train on, and none are left: ${why}`)
}

/** Yields the body of a training job, group by group, so that it never is one string. */
function* renderBody(
  { id: model_id }: PreviewModel,
  groups: readonly BuiltGroup[],
  experimental_config: object | null,
): Generator<Buffer> {
  const head = JSON.stringify({ model_id, experimental_config })
  yield Buffer.from(`${head.slice(0, -1)},"trajectory_groups":[`)
  for (const [index, group] of groups.entries()) {
    yield Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(group)}`)
  }
  yield Buffer.from(']}')
}
