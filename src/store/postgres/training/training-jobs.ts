/** Training jobs in PostgreSQL, their payloads in chunks. The payload always comes before the row. */
import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../errors.ts'
import type { TrainingJobStore } from '../../api/training/training-jobs.ts'
import { findJob, findJobView, listEvents, listJobs } from '../../base/training/job-steps.ts'
import { chunksOf } from '../../base/training/payload-chunks.ts'
import { viewStatements } from '../../base/training/training-jobs.sql.ts'
import type { TrainingParts } from '../../base/training/training-writes.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { POSTGRES } from '../db/dialect.sql.ts'

const VIEWS = viewStatements(POSTGRES)

export function createTrainingJobStore(
  { runs: { read, write }, notifier }: TrainingParts,
  blobs: Blobs,
): TrainingJobStore {
  return {
    async insertJob(job, payload) {
      const payload_path = `payloads/${job.id}.${randomUUID()}`
      const chunks = typeof payload === 'string' ? chunksOf(payload) : payload
      const received = await blobs.receive(payload_path, chunks, Number.POSITIVE_INFINITY)
      const { sha256: payload_sha256, bytes: payload_bytes } = received
      const row = { ...job, payload_path, payload_sha256, payload_bytes }
      try {
        const stored = await write('insert_job', row)
        if (stored.id === job.id) notifier.notify()
        return stored
      } finally {
        // The payload of a repeated request, or of a refused job.
        await blobs.removeUnused([payload_path])
      }
    },
    findJob: (id) => read(findJob(id)),
    findJobView: (id) => read(findJobView(id)),
    listJobs: (listing) => read(listJobs(VIEWS, listing)),
    listEvents: (listing) => read(listEvents(listing)),
    async cancelJob(id, now_us) {
      await write('cancel_job', { id, now_us })
      notifier.notify()
    },
    async openPayload({ payload_path, payload_bytes }) {
      const payload = await blobs.open(payload_path, payload_bytes)
      if (payload === null) throw new ApiError('store_unavailable', { retryAfterS: 5 })
      return payload
    },
  }
}
