/** Statements for the queue of training jobs. */
import { queueStatements } from '../../base/training/training-queue.sql.ts'
import { SQLITE } from '../db/dialect.sql.ts'

export const QUEUE = queueStatements(SQLITE)
