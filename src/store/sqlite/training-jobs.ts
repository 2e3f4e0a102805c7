/** Training jobs in SQLite, their payloads in files. The file always comes before the row. */
import { requireSameJob, type TrainingJob } from '../../domain/training-job.ts'
import type { TrainingJobStore } from '../api/training-jobs.ts'
import type { Connection } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import * as SQL from './sql/training-jobs.ts'
import { toStoreError } from './store-error.ts'
import type { TrainingPayloads } from './training-payloads.ts'

type JobRow = Omit<TrainingJob, 'seq' | 'state'>

export function createTrainingJobStore(
  db: Connection,
  commit: GroupCommit,
  payloads: TrainingPayloads,
): TrainingJobStore {
  const insertJob = db.prepare(SQL.INSERT_TRAINING_JOB)
  const findJob = db.prepare(SQL.FIND_TRAINING_JOB)
  const findByKey = db.prepare(SQL.FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY)

  /** Runs inside a transaction of the caller's. */
  function writeJob(row: JobRow): TrainingJob {
    const isNew = insertJob.run(row).changes === 1
    if (isNew) return findJob.get({ id: row.id }) as TrainingJob
    const { model_id, idempotency_key } = row
    return requireSameJob(findByKey.get({ model_id, idempotency_key }) as TrainingJob, row)
  }

  return {
    async insertJob(job, payload) {
      const written = await payloads.writePayload(job.id, payload)
      try {
        const stored = await commit.write(() => writeJob({ ...job, ...written }))
        if (stored.id !== job.id) await payloads.removePayload(written.payload_path)
        return stored
      } catch (error) {
        await payloads.removePayload(written.payload_path)
        throw error
      }
    },
    async findJob(id) {
      try {
        return (findJob.get({ id }) as TrainingJob | undefined) ?? null
      } catch (error) {
        throw toStoreError(error)
      }
    },
  }
}
