/** Statements over checkpoints. */

/** A new checkpoint; fails when the id or the step is taken (checkpoints_model_id_step). */
export const INSERT_CHECKPOINT = `
INSERT INTO checkpoints (
  id,
  model_id,
  step,
  metrics_json,
  created_at_us
)
VALUES (
  @id,
  @model_id,
  @step,
  @metrics_json,
  @created_at_us
)
`

/** Hides a checkpoint; by primary key. */
export const DELETE_CHECKPOINT = `
UPDATE checkpoints
SET deleted_at_us = @deleted_at_us
WHERE id = @id AND model_id = @model_id AND deleted_at_us IS NULL
`

/** The step of a checkpoint, deleted or not; by primary key. */
export const FIND_CHECKPOINT_STEP = `
SELECT step
FROM checkpoints
WHERE id = @id AND model_id = @model_id
`

/** The next checkpoints upwards (checkpoints_model_id_step). */
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

/** The next checkpoints downwards (checkpoints_model_id_step). */
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
