/** Training jobs in SQLite, their payloads in files. The file always comes before the row. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import { requireSameJob, type TrainingJob } from '../../../domain/training/training-job.ts'
import { cancelJob } from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import type { JobView, TrainingJobStore } from '../../api/training-jobs.ts'
import type { Connection } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import * as MODELS from '../models/preview-models.sql.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import { createJobLists } from './job-lists.ts'
import type { JobMoves } from './job-moves.ts'
import * as SQL from './training-jobs.sql.ts'
import type { TrainingPayloads, WrittenPayload } from './training-payloads.ts'
import * as QUEUE from './training-queue.sql.ts'

export interface TrainingJobParts {
  readonly payloads: TrainingPayloads
  readonly moves: JobMoves
}

type JobRow = Parameters<TrainingJobStore['insertJob']>[0] & WrittenPayload

export function createTrainingJobStore(
  db: Connection,
  commit: GroupCommit,
  { payloads, moves }: TrainingJobParts,
): TrainingJobStore {
  const writeJob = prepareInsert(db, moves)
  const findModel = db.prepare(QUEUE.FIND_MODEL_OF_JOB)
  const findStep = db.prepare(SQL.FIND_RESULT_STEP).pluck()

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
        const stored = await commit.write(() => writeJob({ ...job, ...written }))
        if (stored.id !== job.id)
          await payloads.healPayload(stored.payload_path, written.payload_path)
        else moves.ring()
        return stored
      } catch (error) {
        await payloads.removePayload(written.payload_path)
        throw error
      }
    },
    stageBody: () => payloads.stageBody(),
    async findJob(id) {
      try {
        return moves.find(id)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async findJobView(id) {
      try {
        const job = moves.find(id)
        return job && toView(job)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    ...createJobLists(db, moves, toView),
    async cancelJob(id, now_us, newId) {
      await commit.write(() => {
        const job = moves.find(id)
        if (job === null) throw new ApiError('training_job_not_found')
        moves.save(job, cancelJob(job, 'The job was cancelled.', now_us), { now_us, newId })
      })
      moves.ring()
    },
    openPayload: ({ payload_path }) => payloads.openPayload(payload_path),
  }
}

/** Inserts a job, inside a transaction; gives back the first one on a repeat. */
function prepareInsert(db: Connection, moves: JobMoves): (row: JobRow) => TrainingJob {
  const insertJob = db.prepare(SQL.INSERT_TRAINING_JOB)
  const findByKey = db.prepare(SQL.FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY)
  const findModel = db.prepare(MODELS.FIND_PREVIEW_MODEL)

  return (row) => {
    const { model_id, idempotency_key } = row
    // Deleted since the request was looked at.
    if (findModel.get({ id: model_id }) === undefined) throw new ApiError('model_not_found')
    const isNew = insertJob.run(row).changes === 1
    if (isNew) return moves.find(row.id) as TrainingJob
    return requireSameJob(findByKey.get({ model_id, idempotency_key }) as TrainingJob, row)
  }
}
