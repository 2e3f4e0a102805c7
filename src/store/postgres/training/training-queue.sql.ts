/** Statements for the queue of training jobs. */
import { queueStatements } from '../../base/training/training-queue.sql.ts'
import { POSTGRES } from '../db/dialect.sql.ts'

export const QUEUE = queueStatements(POSTGRES)

/** Serializes transitions of jobs; the lock ends with the transaction. */
export const LOCK_QUEUE = 'SELECT pg_advisory_xact_lock(8738002)'

/** Notifies all processes that another job may be claimed, when the transaction is committed. */
export const NOTIFY_QUEUE = "SELECT pg_notify('weft_jobs', '')"

export const LISTEN_QUEUE = 'LISTEN weft_jobs'
