/** Lists of training jobs and of their events. */
import { canUseProject } from '../../../domain/access/permissions.ts'
import { modelProjectId } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { ApiError } from '../../../errors.ts'
import type {
  EventListing,
  JobListing,
  JobView,
  StoredJobEvent,
  TrainingJobStore,
} from '../../api/training/training-jobs.ts'
import { placeBefore, takeAccepted } from '../../base/db/listing.ts'
import * as EVENTS from '../../base/training/training-events.sql.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import * as SQL from './training-jobs.sql.ts'

const BEFORE_ALL = { asc: 0, desc: Number.MAX_SAFE_INTEGER } as const

/**
 * @param findJob - returns null when the id is unknown
 * @param toView - adds what else is shown of a job
 */
export function createJobLists(
  db: Connection,
  findJob: (id: string) => TrainingJob | null,
  toView: (job: TrainingJob) => JobView,
): Pick<TrainingJobStore, 'listJobs' | 'listEvents'> {
  const listAll = {
    asc: db.prepare(SQL.LIST_TRAINING_JOBS_ASC),
    desc: db.prepare(SQL.LIST_TRAINING_JOBS_DESC),
  }
  const listOfStatus = {
    asc: db.prepare(SQL.LIST_STATUS_JOBS_ASC),
    desc: db.prepare(SQL.LIST_STATUS_JOBS_DESC),
  }
  const listOfModel = {
    asc: db.prepare(SQL.LIST_MODEL_JOBS_ASC),
    desc: db.prepare(SQL.LIST_MODEL_JOBS_DESC),
  }
  const findPosition = db.prepare(EVENTS.FIND_EVENT_POSITION).pluck()
  const listEvents = db.prepare(EVENTS.LIST_EVENTS)

  /** Returns the rows after the cursor, read lazily. */
  function readRows({
    model_id,
    status,
    after,
    order,
    projects,
  }: JobListing): Iterable<TrainingJob> {
    const cursor = after === null ? null : findJob(after)
    const isForeign = cursor !== null && !isShown(toView(cursor), projects)
    if (after !== null && (cursor === null || isForeign)) {
      throw new ApiError('training_job_not_found', { param: 'after' })
    }
    if (model_id !== null) {
      const after_seq = cursor?.seq ?? BEFORE_ALL[order]
      const rows = listOfModel[order].iterate({ model_id, status, after_seq })
      return rows as Iterable<TrainingJob>
    }
    const place = cursor
      ? { after_us: cursor.created_at_us, after_id: cursor.id }
      : placeBefore(order)
    const rows =
      status === null
        ? listAll[order].iterate(place)
        : listOfStatus[order].iterate({ ...place, status })
    return rows as Iterable<TrainingJob>
  }

  function readEvents({ job_id, after, count }: EventListing): StoredJobEvent[] {
    const after_position = after === null ? 0 : findPosition.get({ job_id, id: after })
    if (after_position === undefined) {
      throw new ApiError('validation_failed', {
        message: 'after must be the id of an event of the job',
        param: 'after',
      })
    }
    const attempt = findJob(job_id)?.attempt ?? 0
    return listEvents.all({ job_id, attempt, after_position, count }) as StoredJobEvent[]
  }

  return {
    async listJobs(listing) {
      return orStoreError(() => {
        const views = mapLazily(readRows(listing), toView)
        return takeAccepted(views, listing.count, (view) => isShown(view, listing.projects))
      })
    },
    async listEvents(listing) {
      return orStoreError(() => readEvents(listing))
    },
  }
}

function isShown({ model }: JobView, projects: readonly string[]): boolean {
  return canUseProject({ projects }, modelProjectId(model))
}

function* mapLazily<T, U>(rows: Iterable<T>, map: (row: T) => U): Generator<U> {
  for (const row of rows) yield map(row)
}
