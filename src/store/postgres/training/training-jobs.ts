/** Training jobs in PostgreSQL, their payloads in chunks. The payload always comes before the row. */
import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../errors.ts'
import type { TrainingJobStore } from '../../api/training/training-jobs.ts'
import { findJob, listEvents, viewOf } from '../../base/training/job-steps.ts'
import { chunksOf } from '../../base/training/payload-chunks.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import { listJobs } from './job-lists.ts'
import type { QueueBell } from './queue-bell.ts'
import { writeAndNotify } from './training-writes.ts'

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
      try {
        const stored = await writeAndNotify(db, (writes) => writes.insert_job(row))
        if (stored.id === job.id) bell.ring()
        return stored
      } finally {
        // The payload of a repeated request, or of a refused job.
        await blobs.removeUnused([payload_path])
      }
    },
    findJob: (id) => runSteps(db, findJob(id)),
    async findJobView(id) {
      const job = await runSteps(db, findJob(id))
      return job && runSteps(db, viewOf(job))
    },
    listJobs: (listing) => listJobs(db, listing),
    listEvents: (listing) => runSteps(db, listEvents(listing)),
    async cancelJob(id, now_us) {
      await writeAndNotify(db, (writes) => writes.cancel_job({ id, now_us }))
      bell.ring()
    },
    async openPayload({ payload_path, payload_bytes }) {
      const payload = await blobs.open(payload_path, payload_bytes)
      if (payload === null) throw new ApiError('store_unavailable', { retryAfterS: 5 })
      return payload
    },
  }
}
