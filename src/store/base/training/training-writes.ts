/** All writes of training and of its models, which SQLite and PostgreSQL run each in one transaction. */
import type { StepRuns } from '../db/steps.ts'
import { createModelWrites } from '../models/model-writes.ts'
import { createCompletionWrites } from './completion-writes.ts'
import { createJobMoves } from './job-moves.ts'
import type { JobNotifier } from './job-notifier.ts'
import { createJobWrites } from './job-writes.ts'
import { createClaimWrites, createLeaseWrites } from './queue-writes.ts'
import type { QueueStatements } from './training-queue.sql.ts'

/** @param newId - returns ids for events */
export function createTrainingWrites(newId: () => string, statements: QueueStatements) {
  const moves = createJobMoves(newId)
  return {
    ...createModelWrites(moves),
    ...createJobWrites(moves),
    ...createClaimWrites(moves, statements),
    ...createLeaseWrites(moves),
    ...createCompletionWrites(moves),
  }
}

export type TrainingWrites = ReturnType<typeof createTrainingWrites>

/** What the stores of training share. */
export interface TrainingParts {
  readonly runs: StepRuns<TrainingWrites>
  readonly notifier: JobNotifier
  /** Removes those weights that no checkpoint and no running job needs. Never fails: leftovers are removed later. */
  removeUnused(paths: readonly (string | null)[]): Promise<void>
}
