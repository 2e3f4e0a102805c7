/** Training jobs in PostgreSQL, their payloads in chunks. The payload always comes before the row. */
import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../errors.ts'
import type { TrainingJobStore } from '../../api/training/training-jobs.ts'
import { viewStatements } from '../../base/training/job-lists.sql.ts'
import { listJobs } from '../../base/training/job-lists.ts'
import { findJob, findJobView, listEvents } from '../../base/training/job-steps.ts'
import { chunksOf } from '../../base/training/payload-chunks.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { POSTGRES } from '../db/dialect.sql.ts'
import { runSteps } from '../db/run-steps.ts'
import type { QueueBell } from './queue-bell.ts'
import { writeAndNotify } from './training-writes.ts'

const VIEWS = viewStatements(POSTGRES)

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
    findJobView: (id) => runSteps(db, findJobView(id)),
    listJobs: (listing) => runSteps(db, listJobs(VIEWS, listing)),
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
