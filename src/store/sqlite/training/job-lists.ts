/** Lists of training jobs. */
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { JobListing, JobView, TrainingJobStore } from '../../api/training/training-jobs.ts'
import { placeBefore, takeAccepted } from '../../base/db/listing.ts'
import { findCursor, isShown, viewOf } from '../../base/training/job-steps.ts'
import type { Connection } from '../db/connection.ts'
import { createStepRunner } from '../db/run-steps.ts'
import { orStoreError } from '../db/store-error.ts'
import * as SQL from './training-jobs.sql.ts'

const BEFORE_ALL = { asc: 0, desc: Number.MAX_SAFE_INTEGER } as const

export function createJobList(db: Connection): TrainingJobStore['listJobs'] {
  const run = createStepRunner(db)
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

  /** Returns the jobs after the cursor, read lazily. */
  function* readViews(listing: JobListing): Generator<JobView> {
    for (const row of readRows(listing)) yield run(viewOf(row as TrainingJob))
  }

  function readRows(listing: JobListing): Iterable<unknown> {
    const { model_id, status, order } = listing
    const cursor = run(findCursor(listing))
    if (model_id !== null) {
      const after_seq = cursor?.seq ?? BEFORE_ALL[order]
      return listOfModel[order].iterate({ model_id, status, after_seq })
    }
    const place = cursor
      ? { after_us: cursor.created_at_us, after_id: cursor.id }
      : placeBefore(order)
    return status === null
      ? listAll[order].iterate(place)
      : listOfStatus[order].iterate({ ...place, status })
  }

  return async (listing) =>
    orStoreError(() =>
      takeAccepted(readViews(listing), listing.count, ({ model }) =>
        isShown(model, listing.projects),
      ),
    )
}
