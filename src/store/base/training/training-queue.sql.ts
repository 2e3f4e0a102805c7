/** Statements for the queue of training jobs that run on SQLite and PostgreSQL alike. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
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

/**
 * The first unfinished job of each model: one seek in training_jobs_unfinished per model, however many jobs wait
 * behind the first.
 */
const HEADS = `
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

/** The id of a job, with what decides whether a worker accepts its model. */
export type ClaimableJob = Pick<TrainingJob, 'id'> &
  Pick<PreviewModel, 'entity' | 'project' | 'base_model'>

/**
 * Jobs that may run, oldest first. A model whose first unfinished job is running or waiting for its next attempt has
 * none, because the jobs of a model run strictly in order.
 */
export const LIST_CLAIMABLE_JOBS = `
WITH ${HEADS}
SELECT
  training_jobs.id,
  preview_models.entity,
  preview_models.project,
  preview_models.base_model
FROM heads
JOIN training_jobs ON training_jobs.model_id = heads.model_id AND training_jobs.seq = heads.seq
JOIN preview_models ON preview_models.id = heads.model_id
WHERE training_jobs.state = 'queued' AND training_jobs.available_at_us <= @now_us
ORDER BY training_jobs.created_at_us, training_jobs.id
`

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

/** @param waitsSince - the time since which the first job of a model waits */
export function waitStatements(waitsSince: string) {
  return {
    /** Queued jobs that have been ready to run since a time. */
    LIST_NEGLECTED_JOBS: `
WITH ${HEADS}
SELECT ${JOB_COLUMN_LIST}
FROM heads
JOIN training_jobs ON training_jobs.model_id = heads.model_id AND training_jobs.seq = heads.seq
WHERE training_jobs.state = 'queued' AND ${waitsSince} <= @waits_since_us
`,
    /** The time at which the next delayed job becomes ready, and the time since which the longest has waited. */
    NEXT_WAIT_END: `
WITH ${HEADS}
SELECT
  min(CASE WHEN training_jobs.available_at_us > @now_us THEN training_jobs.available_at_us END)
    AS available_us,
  min(${waitsSince}) AS waits_since_us
FROM heads
JOIN training_jobs ON training_jobs.model_id = heads.model_id AND training_jobs.seq = heads.seq
WHERE training_jobs.state = 'queued'
`,
  }
}
