/** Statements for the queue of training jobs that only PostgreSQL has. */
import { JOB_COLUMN_LIST } from '../../base/training/training-jobs.sql.ts'
import { queueStatements } from '../../base/training/training-queue.sql.ts'

/** Serializes transitions of jobs; the lock ends with the transaction. */
export const LOCK_QUEUE = 'SELECT pg_advisory_xact_lock(8738002)'

/** Tells all processes that another job may be claimed, when the transaction is committed. */
export const NOTIFY_QUEUE = "SELECT pg_notify('weft_jobs', '')"

export const LISTEN_QUEUE = 'LISTEN weft_jobs'

/** Running jobs whose lease or deadline has passed (training_jobs_running). */
export const LIST_OVERDUE_JOBS = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE state = 'running' AND (lease_expires_at_us <= @now_us OR attempt_deadline_us <= @now_us)
`

/**
 * The time since which the first job of a model waits: since it came, since the job before it ended by a
 * worker or a client, or since its next attempt may begin.
 */
const WAITS_SINCE = `
greatest(
  training_jobs.created_at_us,
  training_jobs.available_at_us,
  (
    SELECT earlier.finished_at_us
    FROM training_jobs AS earlier
    WHERE earlier.model_id = training_jobs.model_id
      AND earlier.seq < training_jobs.seq
      AND earlier.error_code IS DISTINCT FROM 'no_worker'
    ORDER BY earlier.seq DESC
    LIMIT 1
  )
)
`

export const { LIST_CLAIMABLE_JOBS, LIST_NEGLECTED_JOBS, NEXT_WAIT_END } = queueStatements(
  'training_jobs',
  WAITS_SINCE,
)

/** When the first lease or attempt ends (training_jobs_running). */
export const NEXT_LEASE_END = `
SELECT min(least(lease_expires_at_us, attempt_deadline_us)) AS due_us
FROM training_jobs
WHERE state = 'running'
`

/** Moves the delays of queued jobs with the clock; none may exceed the longest delay. */
export const MOVE_WAITS = `
UPDATE training_jobs
SET available_at_us = least(available_at_us + @moved_us::bigint, @available_us_max::bigint)
WHERE state = 'queued'
  AND (@moved_us::bigint <> 0 OR available_at_us > @available_us_max::bigint)
`
