/** Reads of training jobs and of their events, in parts. */
import { canUseProject } from '../../../domain/access/permissions.ts'
import { modelProjectId, type PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { ApiError } from '../../../errors.ts'
import type {
  JobListing,
  JobView,
  StoredJobEvent,
  TrainingJobStore,
} from '../../api/training/training-jobs.ts'
import { placeBefore } from '../../base/db/listing.ts'
import * as EVENTS from '../../base/training/training-events.sql.ts'
import { FIND_TRAINING_JOB } from '../../base/training/training-jobs.sql.ts'
import type { Postgres } from '../db/client.ts'
import { FIND_MODELS } from '../models/preview-models.sql.ts'
import * as SQL from './training-jobs.sql.ts'

/** Limit: jobs of one statement. */
const PART_ROWS = 200
const BEFORE_ALL = { asc: 0, desc: 2 ** 31 - 1 } as const

type JobReads = Pick<TrainingJobStore, 'findJob' | 'findJobView' | 'listJobs' | 'listEvents'>

export function createJobReads(db: Postgres): JobReads {
  const find = async (id: string) =>
    (await db.first<TrainingJob>(FIND_TRAINING_JOB, { id })) ?? null

  async function findView(id: string): Promise<JobView | null> {
    const job = await find(id)
    if (job === null) return null
    const [view] = await toViews(db, [job])
    return view ?? null
  }

  async function findCursor({ after, projects }: JobListing): Promise<TrainingJob | null> {
    if (after === null) return null
    const cursor = await findView(after)
    if (cursor === null || !isShown(cursor, projects)) {
      throw new ApiError('training_job_not_found', { param: 'after' })
    }
    return cursor.job
  }

  return {
    findJob: find,
    findJobView: findView,
    async listJobs(listing) {
      const taken: JobView[] = []
      let last = await findCursor(listing)
      while (taken.length < listing.count) {
        const part = await readPart(db, listing, last)
        const views = await toViews(db, part)
        const shown = views.filter((view) => isShown(view, listing.projects))
        taken.push(...shown.slice(0, listing.count - taken.length))
        last = part.at(-1) ?? null
        if (part.length < PART_ROWS || last === null) break
      }
      return taken
    },
    async listEvents({ job_id, after, count }) {
      let after_position = 0
      if (after !== null) {
        const found = await db.first<{ position: number }>(EVENTS.FIND_EVENT_POSITION, {
          job_id,
          id: after,
        })
        if (found === undefined) {
          const message = 'after must be the id of an event of the job'
          throw new ApiError('validation_failed', { message, param: 'after' })
        }
        after_position = found.position
      }
      const attempt = (await find(job_id))?.attempt ?? 0
      const place = { job_id, attempt, after_position, count }
      return db.all<StoredJobEvent>(EVENTS.LIST_EVENTS, place)
    },
  }
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

function isShown({ model }: JobView, projects: readonly string[]): boolean {
  return canUseProject({ projects }, modelProjectId(model))
}
