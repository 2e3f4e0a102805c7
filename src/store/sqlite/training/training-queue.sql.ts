/** Statements for the queue of training jobs. */
import { JOB_COLUMNS, MOVING_COLUMNS } from './training-jobs.sql.ts'

const COLUMNS = JOB_COLUMNS.map((name) => `training_jobs.${name}`).join(',\n  ')
const CHANGES = MOVING_COLUMNS.map((name) => `${name} = @${name}`).join(',\n  ')

/**
 * Stores a job after a state transition, unless another one came in between; by primary key. Every transition uses
 * this statement, so a stale attempt changes nothing.
 */
export const SAVE_MOVED_JOB = `
UPDATE training_jobs
SET
  ${CHANGES}
WHERE id = @id AND state = @state_before AND attempt = @attempt_before
`

/**
 * The first unfinished job of each model: one seek in training_jobs_unfinished per model, however many jobs wait
 * behind the first.
 */
export const HEADS = `
RECURSIVE unfinished_models (model_id) AS (
  SELECT min(model_id)
  FROM training_jobs
  WHERE state IN ('queued', 'running')
  UNION ALL
  SELECT (
    SELECT min(training_jobs.model_id)
    FROM training_jobs
    WHERE state IN ('queued', 'running') AND training_jobs.model_id > unfinished_models.model_id
  )
  FROM unfinished_models
  WHERE unfinished_models.model_id IS NOT NULL
),
heads AS (
  SELECT
    model_id,
    (
      SELECT min(seq)
      FROM training_jobs
      WHERE training_jobs.model_id = unfinished_models.model_id AND state IN ('queued', 'running')
    ) AS seq
  FROM unfinished_models
  WHERE model_id IS NOT NULL
)
`

/**
 * Jobs that may run, oldest first. A model whose first unfinished job is running or waiting for its next attempt has
 * none, because the jobs of a model run strictly in order.
 */
export const LIST_CLAIMABLE_JOBS = `
WITH ${HEADS}
SELECT ${COLUMNS}
FROM heads
JOIN training_jobs ON training_jobs.model_id = heads.model_id AND training_jobs.seq = heads.seq
WHERE training_jobs.state = 'queued' AND training_jobs.available_at_us <= @now_us
ORDER BY training_jobs.created_at_us, training_jobs.id
`

/** Running jobs whose lease or deadline has passed (training_jobs_running). */
export const LIST_OVERDUE_JOBS = `
SELECT ${COLUMNS}
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

/** Queued jobs that have been ready to run since a time. */
export const LIST_NEGLECTED_JOBS = `
WITH ${HEADS}
SELECT ${COLUMNS}
FROM heads
JOIN training_jobs ON training_jobs.model_id = heads.model_id AND training_jobs.seq = heads.seq
WHERE training_jobs.state = 'queued' AND ${WAITS_SINCE} <= @waits_since_us
`

/** The time at which the first lease or attempt ends (training_jobs_running). */
export const NEXT_LEASE_END = `
SELECT min(min(lease_expires_at_us, attempt_deadline_us)) AS due_us
FROM training_jobs INDEXED BY training_jobs_running
WHERE state = 'running'
`

/** The time at which the next delayed job becomes ready, and the time since which the longest has waited. */
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

/** Renews the leases of all running jobs, and moves their deadlines with the clock (training_jobs_running). */
export const EXTEND_LEASES = `
UPDATE training_jobs
SET
  lease_expires_at_us = @lease_expires_at_us,
  attempt_deadline_us = attempt_deadline_us + @moved_us
WHERE state = 'running'
`

/** Moves the delays of queued jobs with the clock; none may exceed the longest delay. */
export const MOVE_WAITS = `
UPDATE training_jobs
SET available_at_us = min(available_at_us + @moved_us, @available_us_max)
WHERE state = 'queued' AND (@moved_us <> 0 OR available_at_us > @available_us_max)
`

/** Takes the next step of a model; by primary key. */
export const TAKE_NEXT_STEP = `
UPDATE preview_models
SET last_step = last_step + 1
WHERE id = @id
RETURNING last_step
`
