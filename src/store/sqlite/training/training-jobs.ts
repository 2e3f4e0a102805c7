/** Training jobs in SQLite, their payloads in files. The file always comes before the row. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { JobView, TrainingJobStore } from '../../api/training/training-jobs.ts'
import type { Connection } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'
import type { JobBell } from './job-bell.ts'
import { createJobLists } from './job-lists.ts'
import * as SQL from './training-jobs.sql.ts'
import type { TrainingPayloads } from './training-payloads.ts'
import * as QUEUE from './training-queue.sql.ts'

export interface TrainingJobParts {
  readonly payloads: TrainingPayloads
  readonly bell: JobBell
}

/** @param db - for what is read here */
export function createTrainingJobStore(
  db: Connection,
  writes: Writes,
  { payloads, bell }: TrainingJobParts,
): TrainingJobStore {
  const findJob = db.prepare(SQL.FIND_TRAINING_JOB)
  const findModel = db.prepare(QUEUE.FIND_MODEL_OF_JOB)
  const findStep = db.prepare(SQL.FIND_RESULT_STEP).pluck()

  const find = (id: string) => (findJob.get({ id }) as TrainingJob | undefined) ?? null

  function toView(job: TrainingJob): JobView {
    const model = findModel.get({ id: job.model_id }) as PreviewModel
    const step = findStep.get({ id: job.result_checkpoint_id }) as number | undefined
    return { job, model, result_step: step ?? null }
  }

  return {
    async insertJob(job, payload) {
      const written =
        typeof payload === 'string'
          ? await payloads.writePayload(job.id, payload)
          : await payloads.keepPayload(job.id, payload)
      try {
        const stored = await writes.run('insert_job', { ...job, ...written })
        if (stored.id !== job.id)
          await payloads.healPayload(stored.payload_path, written.payload_path)
        else bell.ring()
        return stored
      } catch (error) {
        await payloads.removePayload(written.payload_path)
        throw error
      }
    },
    stageBody: () => payloads.stageBody(),
    async findJob(id) {
      try {
        return find(id)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async findJobView(id) {
      try {
        const job = find(id)
        return job && toView(job)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    ...createJobLists(db, find, toView),
    async cancelJob(id, now_us) {
      await writes.run('cancel_job', { id, now_us })
      bell.ring()
    },
    openPayload: ({ payload_path }) => payloads.openPayload(payload_path),
  }
}
