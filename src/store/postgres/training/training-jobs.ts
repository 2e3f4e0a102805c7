/** Training jobs in PostgreSQL, their payloads in chunks. The payload always comes before the row. */
import { randomUUID } from 'node:crypto'
import { requireSameJob, type TrainingJob } from '../../../domain/training/training-job.ts'
import { cancelJob } from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import type { TrainingJobStore } from '../../api/training/training-jobs.ts'
import { FIND_PREVIEW_MODEL } from '../../base/models/preview-models.sql.ts'
import { chunksOf } from '../../base/training/payload-chunks.ts'
import * as JOBS from '../../base/training/training-jobs.sql.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { createJobReads } from './job-lists.ts'
import { moveJobs } from './job-moves.ts'
import type { QueueBell } from './queue-bell.ts'
import { NOTIFY_QUEUE } from './training-queue.sql.ts'

interface TrainingJobParts {
  readonly db: Postgres
  readonly blobs: Blobs
  readonly bell: QueueBell
}

export function createTrainingJobStore({ db, blobs, bell }: TrainingJobParts): TrainingJobStore {
  return {
    async insertJob(job, payload) {
      const payload_path = `payloads/${job.id}.${randomUUID()}`
      const chunks = typeof payload === 'string' ? chunksOf(payload) : payload
      const received = await blobs.receive(payload_path, chunks, Number.POSITIVE_INFINITY)
      const { sha256: payload_sha256, bytes: payload_bytes } = received
      const row = { ...job, payload_path, payload_sha256, payload_bytes }
      const { model_id, idempotency_key } = row
      try {
        const stored = await moveJobs(db, async ({ tx, find: findMoved }) => {
          // Deleted since the request was validated.
          const model = await tx.first(FIND_PREVIEW_MODEL, { id: model_id })
          if (model === undefined) throw new ApiError('model_not_found')
          const isNew = (await tx.run(JOBS.INSERT_TRAINING_JOB, { ...row })) === 1
          await tx.all(NOTIFY_QUEUE)
          if (isNew) return (await findMoved(row.id)) as TrainingJob
          const key = { model_id, idempotency_key }
          const known = await tx.first(JOBS.FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY, key)
          return requireSameJob(known as TrainingJob, row)
        })
        if (stored.id === job.id) bell.ring()
        return stored
      } finally {
        // The payload of a repeated request, or of a refused job.
        await blobs.removeUnused([payload_path])
      }
    },
    ...createJobReads(db),
    async cancelJob(id, now_us) {
      await moveJobs(db, async (moves) => {
        const job = await moves.find(id)
        if (job === null) throw new ApiError('training_job_not_found')
        await moves.save(job, cancelJob(job, 'The job was cancelled.', now_us), now_us)
        await moves.tx.all(NOTIFY_QUEUE)
      })
      bell.ring()
    },
    async openPayload({ payload_path, payload_bytes }) {
      const payload = await blobs.open(payload_path, payload_bytes)
      if (payload === null) throw new ApiError('store_unavailable', { retryAfterS: 5 })
      return payload
    },
  }
}
