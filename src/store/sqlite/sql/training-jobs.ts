/** Statements over training jobs. */

/**
 * A job at the end of its model's queue; nothing happens when the model has its idempotency key.
 * The next seq is read off training_jobs_model_id_seq.
 */
export const INSERT_TRAINING_JOB = `
INSERT INTO training_jobs (
  id,
  model_id,
  seq,
  state,
  payload_path,
  payload_sha256,
  payload_bytes,
  config_json,
  idempotency_key,
  group_count,
  trajectory_count,
  trainable_count,
  created_at_us,
  created_by
)
VALUES (
  @id,
  @model_id,
  (SELECT coalesce(max(seq), 0) + 1 FROM training_jobs WHERE model_id = @model_id),
  'queued',
  @payload_path,
  @payload_sha256,
  @payload_bytes,
  @config_json,
  @idempotency_key,
  @group_count,
  @trajectory_count,
  @trainable_count,
  @created_at_us,
  @created_by
)
ON CONFLICT (model_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
`

const COLUMNS = `
  id,
  model_id,
  seq,
  state,
  payload_path,
  payload_sha256,
  payload_bytes,
  config_json,
  idempotency_key,
  group_count,
  trajectory_count,
  trainable_count,
  created_at_us,
  created_by
`

/** One job by primary key. */
export const FIND_TRAINING_JOB = `
SELECT ${COLUMNS}
FROM training_jobs
WHERE id = @id
`

/** The job of an idempotency key (training_jobs_model_id_idempotency_key). */
export const FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY = `
SELECT ${COLUMNS}
FROM training_jobs
WHERE model_id = @model_id AND idempotency_key = @idempotency_key
`
