/** Statements for checkpoints. */
import { insertNamed } from '../../shared/db/rows.sql.ts'

const OWN_COLUMNS = ['id', 'model_id', 'step', 'metrics_json', 'created_at_us']
const STORED_COLUMN_NAMES = [
  ...OWN_COLUMNS,
  'job_id',
  'artifact_path',
  'artifact_sha256',
  'artifact_bytes',
  'worker_id',
  'worker_version',
]
const STORED_COLUMNS = `\n  ${STORED_COLUMN_NAMES.join(',\n  ')}\n`

/** Inserts a checkpoint; fails when the id or the step is taken (checkpoints_model_id_step). */
export const INSERT_CHECKPOINT = insertNamed('checkpoints', OWN_COLUMNS)

/** Inserts a checkpoint of a job, with its artifact. */
export const INSERT_JOB_CHECKPOINT = insertNamed('checkpoints', STORED_COLUMN_NAMES)

/** Keeps future steps above one that no job made; by primary key. */
export const RAISE_LAST_STEP = `
UPDATE preview_models
SET last_step = max(last_step, @step)
WHERE id = @model_id
`

/** Why the cast: without it, a parameter takes the type of the column, which may be too narrow for the value. */
const IS_STEP = 'step = CAST(@step AS bigint)'

/** Hides the checkpoint of a step (checkpoints_model_id_step). */
export const DELETE_STEP = `
UPDATE checkpoints
SET deleted_at_us = @deleted_at_us
WHERE model_id = @model_id AND ${IS_STEP} AND deleted_at_us IS NULL
RETURNING artifact_path
`

/** Hides all checkpoints of a model (checkpoints_model_id_step). */
export const DELETE_ALL_STEPS = `
UPDATE checkpoints
SET deleted_at_us = @deleted_at_us
WHERE model_id = @model_id AND deleted_at_us IS NULL
RETURNING artifact_path
`

/** The checkpoint of a step (checkpoints_model_id_step). */
export const FIND_STEP = `
SELECT ${STORED_COLUMNS}
FROM checkpoints
WHERE model_id = @model_id AND ${IS_STEP} AND deleted_at_us IS NULL
`

/** The newest checkpoint of a model (checkpoints_model_id_step). */
export const FIND_LATEST_STEP = `
SELECT ${STORED_COLUMNS}
FROM checkpoints
WHERE model_id = @model_id AND deleted_at_us IS NULL
ORDER BY step DESC
LIMIT 1
`

/** A checkpoint, deleted or not; by primary key. */
export const FIND_CHECKPOINT = `
SELECT ${STORED_COLUMNS}
FROM checkpoints
WHERE id = @id
`

/**
 * Whether a file is in use: by a checkpoint that is not deleted (checkpoints_artifact_path), or by a running job that
 * resumes from it or has staged it (training_jobs_running).
 */
export const IS_ARTIFACT_USED = `
SELECT
  EXISTS (SELECT 1 FROM checkpoints WHERE artifact_path = @path AND deleted_at_us IS NULL)
  OR EXISTS (
    SELECT 1
    FROM training_jobs INDEXED BY training_jobs_running
    LEFT JOIN checkpoints AS parents ON parents.id = training_jobs.parent_checkpoint_id
    WHERE training_jobs.state = 'running'
      AND (training_jobs.staged_path = @path OR parents.artifact_path = @path)
  ) AS is_used
`

/** The step of a checkpoint, deleted or not; by primary key. */
export const FIND_CHECKPOINT_STEP = `
SELECT step
FROM checkpoints
WHERE id = @id AND model_id = @model_id
`

/** The next checkpoints, ascending (checkpoints_model_id_step). */
export const LIST_CHECKPOINTS_ASC = `
SELECT
  id,
  model_id,
  step,
  metrics_json,
  created_at_us
FROM checkpoints
WHERE model_id = @model_id AND step > @after_step AND deleted_at_us IS NULL
ORDER BY step
LIMIT @count
`

/** The next checkpoints, descending (checkpoints_model_id_step). */
export const LIST_CHECKPOINTS_DESC = `
SELECT
  id,
  model_id,
  step,
  metrics_json,
  created_at_us
FROM checkpoints
WHERE model_id = @model_id AND step < @after_step AND deleted_at_us IS NULL
ORDER BY step DESC
LIMIT @count
`
