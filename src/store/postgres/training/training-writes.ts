/** Runs the writes of training. They are serialized across processes. */
import { randomUUID } from 'node:crypto'
import type { Steps } from '../../base/db/steps.ts'
import { createTrainingWrites, type TrainingWrites } from '../../base/training/training-writes.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import { LOCK_QUEUE, NOTIFY_QUEUE, QUEUE } from './training-queue.sql.ts'

const WRITES = createTrainingWrites(randomUUID, QUEUE)

/** Runs a write as one transaction that locks the queue. */
export function writeTraining<T>(
  db: Postgres,
  write: (writes: TrainingWrites) => Steps<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.all(LOCK_QUEUE)
    return runSteps(tx, write(WRITES))
  })
}

/** The same, and tells all processes that another job may be claimed. */
export function writeAndNotify<T>(
  db: Postgres,
  write: (writes: TrainingWrites) => Steps<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.all(LOCK_QUEUE)
    await tx.all(NOTIFY_QUEUE)
    return runSteps(tx, write(WRITES))
  })
}
