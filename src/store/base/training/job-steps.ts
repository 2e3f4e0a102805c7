/** Reads of training jobs and of their events in SQLite and PostgreSQL alike. */
import { canUseProject } from '../../../domain/access/permissions.ts'
import { modelProjectId, type PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { requireLease } from '../../../domain/training/training-moves.ts'
import { firstDueUs, type QueueWaits } from '../../../domain/training/training-queue.ts'
import { leaseLost } from '../../../domain/training/training-states.ts'
import { ApiError } from '../../../errors.ts'
import type {
  ClaimedJob,
  EventListing,
  JobListing,
  JobView,
  Lease,
  StoredJobEvent,
} from '../../api/training/training-queue.ts'
import { cursorBehind, listParts } from '../db/listing.ts'
import { all, first, type Steps } from '../db/steps.ts'
import { findCheckpoint } from '../models/checkpoint-steps.ts'
import { FIND_CHECKPOINT_STEP } from '../models/checkpoints.sql.ts'
import { FIND_ANY_PREVIEW_MODEL } from '../models/preview-models.sql.ts'
import * as EVENTS from './training-jobs.sql.ts'
import type { QueueStatements } from './training-queue.sql.ts'

export function* findJob(id: string): Steps<TrainingJob | null> {
  return (yield* first<TrainingJob>(EVENTS.FIND_TRAINING_JOB, { id })) ?? null
}

/** Returns the model of a job, deleted or not. */
export function* findModel({ model_id: id }: TrainingJob): Steps<PreviewModel> {
  return (yield* first<PreviewModel>(FIND_ANY_PREVIEW_MODEL, { id })) as PreviewModel
}

/** Returns a job with what else is shown of it. */
export function* findJobView(job_id: string): Steps<JobView | null> {
  const job = yield* findJob(job_id)
  if (job === null) return null
  const { model_id, result_checkpoint_id: id } = job
  const result =
    id === null ? undefined : yield* first<{ step: number }>(FIND_CHECKPOINT_STEP, { id, model_id })
  return { job, model: yield* findModel(job), result_step: result?.step ?? null }
}

/** Returns the job after which a list begins; null: at its beginning. @throws ApiError training_job_not_found */
function* findCursor({ after, projects }: JobListing): Steps<TrainingJob | null> {
  if (after === null) return null
  const job = yield* findJob(after)
  if (job !== null && isShown(yield* findModel(job), projects)) return job
  throw new ApiError('training_job_not_found', { param: 'after' })
}

/** Whether a list shows the jobs of a model. */
function isShown(model: PreviewModel, projects: readonly string[]): boolean {
  return canUseProject({ projects }, modelProjectId(model))
}

/** Returns the job under a lease. @throws ApiError lease_lost */
export function* requireLeased({ job_id, token_hash, now_us }: Lease): Steps<TrainingJob> {
  const job = yield* findJob(job_id)
  if (job === null) throw leaseLost()
  requireLease(job, token_hash, now_us)
  return job
}

/** See the contract. */
export function* findLeased(lease: Lease): Steps<ClaimedJob> {
  const job = yield* requireLeased(lease)
  const parent = yield* findCheckpoint(job.parent_checkpoint_id)
  return { job, model: yield* findModel(job), parent }
}

/** See the contract. */
export function* listEvents({ job_id, after, count }: EventListing): Steps<StoredJobEvent[]> {
  const after_position = after === null ? 0 : yield* findPosition(job_id, after)
  const attempt = (yield* findJob(job_id))?.attempt ?? 0
  const place = { job_id, attempt, after_position, count }
  return yield* all<StoredJobEvent>(EVENTS.LIST_EVENTS, place)
}

function* findPosition(job_id: string, id: string): Steps<number> {
  const found = yield* first<{ position: number }>(EVENTS.FIND_EVENT_POSITION, { job_id, id })
  if (found !== undefined) return found.position
  const message = 'after must be the id of an event of the job'
  throw new ApiError('validation_failed', { message, param: 'after' })
}

/** See the contract. */
export function* findNextDueUs(
  { NEXT_LEASE_END, NEXT_WAIT_END }: QueueStatements,
  now_us: number,
  queue_timeout_ms: number,
): Steps<number | null> {
  const lease = yield* first<{ due_us: number | null }>(NEXT_LEASE_END, {})
  const waits = yield* first<QueueWaits>(NEXT_WAIT_END, { now_us })
  return firstDueUs(lease?.due_us ?? null, waits as QueueWaits, queue_timeout_ms)
}

const BEFORE_ALL = { asc: 0, desc: Number.MAX_SAFE_INTEGER } as const

/** See the contract. */
export function* listJobs(
  statements: EVENTS.ViewStatements,
  listing: JobListing,
): Steps<JobView[]> {
  return yield* listParts(yield* findCursor(listing), listing.count, function* (last, limit) {
    const jobs = yield* readPart(listing, last, limit)
    const views = yield* toViews(statements, jobs)
    return {
      rows: jobs,
      shown: views.filter(({ model }) => isShown(model, listing.projects)),
    }
  })
}

function readPart(
  { model_id, status, order }: JobListing,
  last: TrainingJob | null,
  limit: number,
): Steps<TrainingJob[]> {
  if (model_id !== null) {
    const after_seq = last?.seq ?? BEFORE_ALL[order]
    return all(EVENTS.selectModelJobs(order), { model_id, status, after_seq, limit })
  }
  const place = cursorBehind(last, order)
  const ofStatus = status === null ? {} : { status }
  return all(EVENTS.selectJobs(order, status !== null), { ...place, ...ofStatus, limit })
}

/** Adds what else is shown of jobs. */
function* toViews(
  { FIND_MODELS, FIND_RESULT_STEPS }: EVENTS.ViewStatements,
  jobs: readonly TrainingJob[],
): Steps<JobView[]> {
  const models = yield* all<PreviewModel>(FIND_MODELS, {
    ids: [...new Set(jobs.map(({ model_id }) => model_id))],
  })
  const steps = yield* all<{ id: string; step: number }>(FIND_RESULT_STEPS, {
    ids: jobs.flatMap(({ result_checkpoint_id: id }) => id ?? []),
  })
  const modelOf = new Map(models.map((model) => [model.id, model]))
  const stepOf = new Map(steps.map(({ id, step }) => [id, step]))
  return jobs.map((job) => ({
    job,
    model: modelOf.get(job.model_id) as PreviewModel,
    result_step: stepOf.get(job.result_checkpoint_id ?? '') ?? null,
  }))
}
