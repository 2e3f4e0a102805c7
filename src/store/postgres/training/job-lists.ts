/** Lists of training jobs, in parts. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { JobListing, JobView } from '../../api/training/training-jobs.ts'
import { placeBefore } from '../../base/db/listing.ts'
import { findCursor, isShown } from '../../base/training/job-steps.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import { FIND_MODELS } from '../models/preview-models.sql.ts'
import * as SQL from './training-jobs.sql.ts'

/** Limit: jobs of one statement. */
const PART_ROWS = 200
const BEFORE_ALL = { asc: 0, desc: 2 ** 31 - 1 } as const

export async function listJobs(db: Postgres, listing: JobListing): Promise<JobView[]> {
  const taken: JobView[] = []
  let last = await runSteps(db, findCursor(listing))
  while (taken.length < listing.count) {
    const part = await readPart(db, listing, last)
    const views = await toViews(db, part)
    const shown = views.filter(({ model }) => isShown(model, listing.projects))
    taken.push(...shown.slice(0, listing.count - taken.length))
    last = part.at(-1) ?? null
    if (part.length < PART_ROWS || last === null) break
  }
  return taken
}

/** Returns jobs with the other data of their views. */
async function toViews(db: Postgres, jobs: readonly TrainingJob[]): Promise<JobView[]> {
  const models = await db.all<PreviewModel>(FIND_MODELS, {
    ids: [...new Set(jobs.map(({ model_id }) => model_id))],
  })
  const steps = await db.all<{ id: string; step: number }>(SQL.FIND_RESULT_STEPS, {
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

/** The jobs after a cursor. */
function readPart(db: Postgres, { model_id, status, order }: JobListing, last: TrainingJob | null) {
  const more = { status, limit: PART_ROWS }
  if (model_id !== null) {
    const after_seq = last?.seq ?? BEFORE_ALL[order]
    return db.all<TrainingJob>(SQL.LIST_MODEL_JOBS[order], { ...more, model_id, after_seq })
  }
  const place = last ? { after_us: last.created_at_us, after_id: last.id } : placeBefore(order)
  return db.all<TrainingJob>(SQL.LIST_TRAINING_JOBS[order], { ...more, ...place })
}
