/** Runs the writes of training. They are serialized across processes. */
import { randomUUID } from 'node:crypto'
import type { StepRuns } from '../../base/db/steps.ts'
import { createTrainingWrites, type TrainingWrites } from '../../base/training/training-writes.ts'
import type { Postgres } from '../db/client.ts'
import { createStepRuns } from '../db/run-steps.ts'
import { LOCK_QUEUE, NOTIFY_QUEUE, QUEUE } from './training-queue.sql.ts'

const WRITES = createTrainingWrites(randomUUID, QUEUE)

/** The writes after which another job may be claimed: all processes are notified. */
const TOLD: ReadonlySet<keyof TrainingWrites> = new Set([
  'insert_job',
  'cancel_job',
  'complete_job',
  'fail_attempt',
  'release_job',
  'delete_model',
])

/** Each write is a transaction that locks the queue. */
export function createTrainingRuns(db: Postgres): StepRuns<TrainingWrites> {
  return {
    ...createStepRuns(db, WRITES),
    write: (name, input) =>
      db.transaction(async (tx) => {
        await tx.all(LOCK_QUEUE)
        if (TOLD.has(name)) await tx.all(NOTIFY_QUEUE)
        return createStepRuns(tx, WRITES).write(name, input)
      }),
  }
}
