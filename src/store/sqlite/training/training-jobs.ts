/** Training jobs in SQLite, with payloads in files. A file is always written before its row. */
import { join } from 'node:path'
import { ApiError } from '../../../errors.ts'
import type { TrainingJobStore } from '../../api/training/training-jobs.ts'
import { findJob, findJobView, listEvents, listJobs } from '../../base/training/job-steps.ts'
import { chunksOf } from '../../base/training/payload-chunks.ts'
import { viewStatements } from '../../base/training/training-jobs.sql.ts'
import type { TrainingParts } from '../../base/training/training-writes.ts'
import type { Connection } from '../db/connection.ts'
import { SQLITE } from '../db/dialect.sql.ts'
import { type FileFolder, PAYLOADS_DIRECTORY } from '../files/file-folder.ts'
import { onDisk, receiveBytes } from '../files/receive-file.ts'

const VIEWS = viewStatements(SQLITE)

/** @param payloads - the folder of the payloads */
export function createTrainingJobStore(
  db: Pick<Connection, 'open'>,
  { runs: { read, write }, notifier }: Pick<TrainingParts, 'runs' | 'notifier'>,
  payloads: FileFolder,
): TrainingJobStore {
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
        const row = { ...job, payload_path, payload_sha256, payload_bytes }
        const stored = await write('insert_job', row)
        if (stored.id === job.id) notifier.notify()
        // The job existed before: its payload is only needed when the stored file is missing.
        else if (await payloads.has(stored.payload_path)) await payloads.remove(payload_path)
        else await file.keep(stored.payload_path)
        return stored
      } catch (error) {
        // A writer that died may have committed the job before.
        if (db.open && (await read(findJob(job.id))) === null) await payloads.remove(payload_path)
        throw error
      } finally {
        await file.discard()
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
    openPayload: ({ payload_path }) => onDisk(() => payloads.openReader(payload_path)),
  }
}
