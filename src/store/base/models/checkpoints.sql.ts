/** Statements for checkpoints that run on SQLite and PostgreSQL alike. */
import { insertNamed } from '../db/rows.sql.ts'

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

/** The step of a checkpoint, deleted or not; by primary key. */
export const FIND_CHECKPOINT_STEP = `
SELECT step
FROM checkpoints
WHERE id = @id AND model_id = @model_id
`

/** The next checkpoints (checkpoints_model_id_step). */
export function selectCheckpoints(order: 'asc' | 'desc'): string {
  return `
SELECT ${OWN_COLUMNS.join(', ')}
FROM checkpoints
WHERE model_id = @model_id
  AND step ${order === 'asc' ? '>' : '<'} CAST(@after_step AS bigint)
  AND deleted_at_us IS NULL
ORDER BY step ${order}
LIMIT @count
`
}
