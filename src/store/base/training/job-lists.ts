/** Lists of training jobs in SQLite and PostgreSQL alike. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { JobListing, JobView } from '../../api/training/training-jobs.ts'
import { cursorBehind, listParts } from '../db/listing.ts'
import { all, type Steps } from '../db/steps.ts'
import { selectJobs, selectModelJobs, type ViewStatements } from './job-lists.sql.ts'
import { findCursor, isShown } from './job-steps.ts'

const BEFORE_ALL = { asc: 0, desc: Number.MAX_SAFE_INTEGER } as const

/** See the contract. */
export function* listJobs(statements: ViewStatements, listing: JobListing): Steps<JobView[]> {
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
    return all(selectModelJobs(order), { model_id, status, after_seq, limit })
  }
  const place = cursorBehind(last, order)
  const ofStatus = status === null ? {} : { status }
  return all(selectJobs(order, status !== null), { ...place, ...ofStatus, limit })
}

/** Adds what else is shown of jobs. */
function* toViews(
  { FIND_MODELS, FIND_RESULT_STEPS }: ViewStatements,
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
