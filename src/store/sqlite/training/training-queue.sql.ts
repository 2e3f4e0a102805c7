/** Statements for the queue of training jobs. */
import { JOB_COLUMN_LIST } from '../../base/training/training-jobs.sql.ts'
import { queueStatements } from '../../base/training/training-queue.sql.ts'

/** Running jobs whose lease or deadline has passed (training_jobs_running). */
export const LIST_OVERDUE_JOBS = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs INDEXED BY training_jobs_running
WHERE state = 'running' AND (lease_expires_at_us <= @now_us OR attempt_deadline_us <= @now_us)
`

/**
 * The time since which the first job of a model waits: the latest of its creation, the end of the previous job by a
 * worker or a client, and the time when its next attempt may begin.
 */
const WAITS_SINCE = `
max(
  training_jobs.created_at_us,
  training_jobs.available_at_us,
  coalesce(
    (
      SELECT earlier.finished_at_us
      FROM training_jobs AS earlier
      WHERE earlier.model_id = training_jobs.model_id
        AND earlier.seq < training_jobs.seq
        AND earlier.error_code IS NOT 'no_worker'
      ORDER BY earlier.seq DESC
      LIMIT 1
    ),
    0
  )
)
`

export const { LIST_CLAIMABLE_JOBS, LIST_NEGLECTED_JOBS, NEXT_WAIT_END } = queueStatements(
  'training_jobs INDEXED BY training_jobs_unfinished',
  WAITS_SINCE,
)

/** The time at which the first lease or attempt ends (training_jobs_running). */
export const NEXT_LEASE_END = `
SELECT min(min(lease_expires_at_us, attempt_deadline_us)) AS due_us
FROM training_jobs INDEXED BY training_jobs_running
WHERE state = 'running'
`

/** Moves the delays of queued jobs with the clock; none may exceed the longest delay. */
export const MOVE_WAITS = `
UPDATE training_jobs
SET available_at_us = min(available_at_us + @moved_us, @available_us_max)
WHERE state = 'queued' AND (@moved_us <> 0 OR available_at_us > @available_us_max)
`
