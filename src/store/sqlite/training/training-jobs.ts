/** Training jobs in SQLite, with payloads in files. A file is always written before its row. */
import { join } from 'node:path'
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { ApiError } from '../../../errors.ts'
import type { JobView, TrainingJobStore } from '../../api/training/training-jobs.ts'
import { FIND_ANY_PREVIEW_MODEL } from '../../base/models/preview-models.sql.ts'
import type { JobBell } from '../../base/training/job-bell.ts'
import { chunksOf } from '../../base/training/payload-chunks.ts'
import * as BASE from '../../base/training/training-jobs.sql.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import { type FileFolder, PAYLOADS_DIRECTORY } from '../files/file-folder.ts'
import { onDisk, receiveBytes } from '../files/receive-file.ts'
import type { Writes } from '../write/writes.ts'
import { createJobLists } from './job-lists.ts'
import * as SQL from './training-jobs.sql.ts'

interface TrainingJobParts {
  /** The folder of the payloads. */
  readonly payloads: FileFolder
  readonly bell: JobBell
}

/** @param db - for reads on this thread */
export function createTrainingJobStore(
  db: Connection,
  writes: Writes,
  { payloads, bell }: TrainingJobParts,
): TrainingJobStore {
  const findJob = db.prepare(BASE.FIND_TRAINING_JOB)
  const findModel = db.prepare(FIND_ANY_PREVIEW_MODEL)
  const findStep = db.prepare(SQL.FIND_RESULT_STEP).pluck()

  const find = (id: string) => (findJob.get({ id }) as TrainingJob | undefined) ?? null

  function toView(job: TrainingJob): JobView {
    const model = findModel.get({ id: job.model_id }) as PreviewModel
    const step = findStep.get({ id: job.result_checkpoint_id }) as number | undefined
    return { job, model, result_step: step ?? null }
  }

  return {
    async insertJob(job, payload) {
      const payload_path = join(PAYLOADS_DIRECTORY, `${job.id}.json`)
      // A file at this path belongs to another job and must not be overwritten.
      if (await payloads.has(payload_path)) throw new ApiError('store_unavailable')
      const chunks = typeof payload === 'string' ? chunksOf(payload) : payload
      const file = await receiveBytes(chunks, Number.POSITIVE_INFINITY, payloads)
      const { sha256: payload_sha256, bytes: payload_bytes } = file
      try {
        await file.keep(payload_path)
        const stored = await writes.run('insert_job', {
          ...job,
          payload_path,
          payload_sha256,
          payload_bytes,
        })
        if (stored.id === job.id) bell.ring()
        // The job existed before: its payload is only needed when the stored file is missing.
        else if (await payloads.has(stored.payload_path)) await payloads.remove(payload_path)
        else await file.keep(stored.payload_path)
        return stored
      } catch (error) {
        // A writer that died may have committed the job before.
        if (db.open && find(job.id) === null) await payloads.remove(payload_path)
        throw error
      } finally {
        await file.discard()
      }
    },
    async findJob(id) {
      return orStoreError(() => find(id))
    },
    async findJobView(id) {
      return orStoreError(() => {
        const job = find(id)
        return job && toView(job)
      })
    },
    ...createJobLists(db, find, toView),
    async cancelJob(id, now_us) {
      await writes.run('cancel_job', { id, now_us })
      bell.ring()
    },
    openPayload: ({ payload_path }) => onDisk(() => payloads.openReader(payload_path)),
  }
}
