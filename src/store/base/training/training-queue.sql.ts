/** Statements for the queue of training jobs that run on SQLite and PostgreSQL alike. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { Dialect } from '../db/dialect.ts'
import { JOB_COLUMN_LIST, MOVING_COLUMNS } from './training-jobs.sql.ts'

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

/** The id of a job, with what decides whether a worker accepts its model. */
export type ClaimableJob = Pick<TrainingJob, 'id'> &
  Pick<PreviewModel, 'entity' | 'project' | 'base_model'>

/** Takes the next step of a model; by primary key. */
export const TAKE_NEXT_STEP = `
UPDATE preview_models
SET last_step = last_step + 1
WHERE id = @id
RETURNING last_step
`

/** Renews the leases of all running jobs, and moves their deadlines with the clock (training_jobs_running). */
export const EXTEND_LEASES = `
UPDATE training_jobs
SET
  lease_expires_at_us = @lease_expires_at_us,
  attempt_deadline_us = attempt_deadline_us + CAST(@moved_us AS bigint)
WHERE state = 'running'
`

/**
 * Returns the first unfinished job of each model: one seek per model, however many jobs wait behind the first. The
 * CROSS JOIN that follows it has SQLite begin with these.
 */
function headsOf(unfinishedJobs: string): string {
  return `
RECURSIVE unfinished_models (model_id) AS (
  SELECT min(model_id)
  FROM ${unfinishedJobs}
  WHERE state IN ('queued', 'running')
  UNION ALL
  SELECT (
    SELECT min(training_jobs.model_id)
    FROM ${unfinishedJobs}
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
      FROM ${unfinishedJobs}
      WHERE training_jobs.model_id = unfinished_models.model_id AND state IN ('queued', 'running')
    ) AS seq
  FROM unfinished_models
  WHERE model_id IS NOT NULL
)
`
}

const IS_QUEUED_HEAD = `training_jobs.model_id = heads.model_id
  AND training_jobs.seq = heads.seq
  AND training_jobs.state = 'queued'`

/**
 * The time since which the first job of a model waits: the latest of its creation, the end of the previous job by a
 * worker or a client, and the time when its next attempt may begin.
 */
function waitsSinceBy({ greatest }: Dialect): string {
  return `
${greatest}(
  training_jobs.created_at_us,
  training_jobs.available_at_us,
  coalesce(
    (
      SELECT earlier.finished_at_us
      FROM training_jobs AS earlier
      WHERE earlier.model_id = training_jobs.model_id
        AND earlier.seq < training_jobs.seq
        AND earlier.error_code IS DISTINCT FROM 'no_worker'
      ORDER BY earlier.seq DESC
      LIMIT 1
    ),
    0
  )
)
`
}

/** The statements whose text depends on the database. */
export function queueStatements(dialect: Dialect) {
  const HEADS = headsOf(`training_jobs ${dialect.indexedBy('training_jobs_unfinished')}`)
  const running = `training_jobs ${dialect.indexedBy('training_jobs_running')}`
  const waitsSince = waitsSinceBy(dialect)
  return {
    /** Running jobs whose lease or deadline has passed (training_jobs_running). */
    LIST_OVERDUE_JOBS: `
SELECT ${JOB_COLUMN_LIST}
FROM ${running}
WHERE state = 'running' AND (lease_expires_at_us <= @now_us OR attempt_deadline_us <= @now_us)
`,
    /** The time at which the first lease or attempt ends (training_jobs_running). */
    NEXT_LEASE_END: `
SELECT min(${dialect.least}(lease_expires_at_us, attempt_deadline_us)) AS due_us
FROM ${running}
WHERE state = 'running'
`,
    /** Moves the delays of queued jobs with the clock; none may exceed the longest delay. */
    MOVE_WAITS: `
UPDATE training_jobs
SET available_at_us = ${dialect.least}(
  available_at_us + CAST(@moved_us AS bigint),
  CAST(@available_us_max AS bigint)
)
WHERE state = 'queued'
  AND (CAST(@moved_us AS bigint) <> 0 OR available_at_us > CAST(@available_us_max AS bigint))
`,
    /**
     * Jobs that may run, oldest first. A model whose first unfinished job is running or waiting for its next attempt
     * has none, because the jobs of a model run strictly in order.
     */
    LIST_CLAIMABLE_JOBS: `
WITH ${HEADS}
SELECT
  training_jobs.id,
  preview_models.entity,
  preview_models.project,
  preview_models.base_model
FROM heads
CROSS JOIN training_jobs
JOIN preview_models ON preview_models.id = heads.model_id
WHERE ${IS_QUEUED_HEAD}
  AND training_jobs.available_at_us <= @now_us
ORDER BY training_jobs.created_at_us, training_jobs.id
`,
    /** Queued jobs that have been ready to run since a time. */
    LIST_NEGLECTED_JOBS: `
WITH ${HEADS}
SELECT ${JOB_COLUMN_LIST}
FROM heads
CROSS JOIN training_jobs
WHERE ${IS_QUEUED_HEAD}
  AND ${waitsSince} <= @waits_since_us
`,
    /** The time at which the next delayed job becomes ready, and the time since which the longest has waited. */
    NEXT_WAIT_END: `
WITH ${HEADS}
SELECT
  min(CASE WHEN training_jobs.available_at_us > @now_us THEN training_jobs.available_at_us END)
    AS available_us,
  min(${waitsSince}) AS waits_since_us
FROM heads
CROSS JOIN training_jobs
WHERE ${IS_QUEUED_HEAD}
`,
  }
}

export type QueueStatements = ReturnType<typeof queueStatements>
