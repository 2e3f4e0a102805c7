/** Statements over the queue of training jobs, where PostgreSQL has words of its own. */
import { JOB_COLUMNS } from '../../shared/training/training-jobs.sql.ts'
import { HEADS } from '../../shared/training/training-queue.sql.ts'

const COLUMNS = JOB_COLUMNS.map((name) => `training_jobs.${name}`).join(',\n  ')

/** One at a time moves jobs; the lock ends with the transaction. */
export const LOCK_QUEUE = 'SELECT pg_advisory_xact_lock(8738002)'

/** Tells all processes that another job may be claimed, when the transaction is committed. */
export const NOTIFY_QUEUE = "SELECT pg_notify('weft_jobs', '')"

export const LISTEN_QUEUE = 'LISTEN weft_jobs'

/** Running jobs whose lease or time has run out (training_jobs_running). */
export const LIST_OVERDUE_JOBS = `
SELECT ${COLUMNS}
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

/** Queued jobs that could have run since a time and did not. */
export const LIST_NEGLECTED_JOBS = `
WITH ${HEADS}
SELECT ${COLUMNS}
FROM heads
JOIN training_jobs ON training_jobs.model_id = heads.model_id AND training_jobs.seq = heads.seq
WHERE training_jobs.state = 'queued' AND ${WAITS_SINCE} <= @waits_since_us
`

/** When the first lease or attempt ends (training_jobs_running). */
export const NEXT_LEASE_END = `
SELECT min(least(lease_expires_at_us, attempt_deadline_us)) AS due_us
FROM training_jobs
WHERE state = 'running'
`

/** When the first job may run that may not yet, and since when the longest waits. */
export const NEXT_WAIT_END = `
WITH ${HEADS}
SELECT
  min(CASE WHEN training_jobs.available_at_us > @now_us THEN training_jobs.available_at_us END)
    AS available_us,
  min(${WAITS_SINCE}) AS waits_since_us
FROM heads
JOIN training_jobs ON training_jobs.model_id = heads.model_id AND training_jobs.seq = heads.seq
WHERE training_jobs.state = 'queued'
`

/** The waits of queued jobs move with the clock, and none ends later than a wait may take. */
export const MOVE_WAITS = `
UPDATE training_jobs
SET available_at_us = least(available_at_us + @moved_us::bigint, @available_us_max::bigint)
WHERE state = 'queued'
  AND (@moved_us::bigint <> 0 OR available_at_us > @available_us_max::bigint)
`

/** Whole leases for all running jobs, whose limits move with the clock (training_jobs_running). */
export const EXTEND_LEASES = `
UPDATE training_jobs
SET
  lease_expires_at_us = @lease_expires_at_us,
  attempt_deadline_us = attempt_deadline_us + @moved_us::bigint
WHERE state = 'running'
`
