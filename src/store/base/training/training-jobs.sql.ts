/** Statements for training jobs that run on SQLite and PostgreSQL alike. */
import type { Dialect } from '../db/dialect.ts'
import { cursorCondition, insertNamed } from '../db/rows.sql.ts'
import { MODEL_COLUMN_LIST } from '../models/preview-models.sql.ts'

/**
 * Inserts a job at the end of its model's queue; does nothing when the model has its idempotency key.
 * The next seq comes from training_jobs_model_id_seq.
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
  oldest_policy_version,
  source_json,
  available_at_us,
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
  @oldest_policy_version,
  @source_json,
  @created_at_us,
  @created_at_us,
  @created_by
)
ON CONFLICT (model_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
`

/** The columns of a job that transitions change. */
export const MOVING_COLUMNS = [
  'state',
  'attempt',
  'released_count',
  'available_at_us',
  'resolved_config_json',
  'parent_checkpoint_id',
  'policy_lag',
  'worker_id',
  'worker_version',
  'lease_token_hash',
  'lease_expires_at_us',
  'attempt_deadline_us',
  'last_heartbeat_at_us',
  'progress',
  'cancel_requested',
  'staged_path',
  'staged_sha256',
  'staged_bytes',
  'untrained_reason',
  'error_code',
  'error_message',
  'result_checkpoint_id',
  'started_at_us',
  'finished_at_us',
] as const

/** All columns of a job. */
const JOB_COLUMNS = [
  'id',
  'model_id',
  'seq',
  'payload_path',
  'payload_sha256',
  'payload_bytes',
  'config_json',
  'idempotency_key',
  'group_count',
  'trajectory_count',
  'trainable_count',
  'oldest_policy_version',
  'source_json',
  'max_attempts',
  'created_at_us',
  'created_by',
  ...MOVING_COLUMNS,
] as const

export const JOB_COLUMN_LIST = JOB_COLUMNS.map((name) => `training_jobs.${name}`).join(',\n  ')

/** One job; by primary key. */
export const FIND_TRAINING_JOB = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE id = @id
`

/** The job with an idempotency key (training_jobs_model_id_idempotency_key). */
export const FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE model_id = @model_id AND idempotency_key = @idempotency_key
`

/** The unfinished jobs of a model, in order (training_jobs_unfinished). */
export const LIST_UNFINISHED_JOBS = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE model_id = @model_id AND state IN ('queued', 'running')
ORDER BY seq
`

/** The number of queued and running jobs among the first 10,000 unfinished ones (training_jobs_state_created_at_us). */
export const COUNT_UNFINISHED_JOBS = `
SELECT
  count(*) FILTER (WHERE state = 'queued') AS queued,
  count(*) FILTER (WHERE state = 'running') AS running
FROM (
  SELECT state
  FROM training_jobs
  WHERE state IN ('queued', 'running')
  LIMIT 10000
) AS unfinished
`

type Order = 'asc' | 'desc'

/** Jobs after a cursor; those of a status (training_jobs_created_at_us, training_jobs_state_created_at_us). */
export function selectJobs(order: Order, ofStatus: boolean): string {
  return `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE ${ofStatus ? 'state = @status AND ' : ''}${cursorCondition(order)}
`
}

/** The jobs of one model after a position in its queue (training_jobs_model_id_seq). */
export function selectModelJobs(order: Order): string {
  return `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE model_id = @model_id
  AND seq ${order === 'asc' ? '>' : '<'} CAST(@after_seq AS bigint)
  AND (CAST(@status AS text) IS NULL OR state = CAST(@status AS text))
ORDER BY seq ${order}
LIMIT @limit
`
}

/** Columns that are shown of jobs besides their rows; both by primary key. */
export function viewStatements({ among }: Dialect) {
  return {
    /** Models, deleted or not. */
    FIND_MODELS: `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE id ${among('ids')}
`,
    /** Steps of checkpoints, deleted or not. */
    FIND_RESULT_STEPS: `
SELECT id, step
FROM checkpoints
WHERE id ${among('ids')}
`,
  }
}

export type ViewStatements = ReturnType<typeof viewStatements>

/** Inserts an event unless its attempt has one with this seq (training_events_job_id_attempt_seq). */
export const INSERT_EVENT = `${insertNamed('training_events', [
  'id',
  'job_id',
  'attempt',
  'seq',
  'type',
  'data_json',
  'created_at_us',
])}ON CONFLICT (job_id, attempt, seq) DO NOTHING
`

/** The number of events of an attempt (training_events_job_id_position). */
export const COUNT_EVENTS = `
SELECT count(*) AS count
FROM training_events
WHERE job_id = @job_id AND attempt = @attempt
`

/** Whether an attempt has any event (training_events_job_id_position). */
export const FIND_FIRST_EVENT = `
SELECT type
FROM training_events
WHERE job_id = @job_id AND attempt = @attempt
ORDER BY position
LIMIT 1
`

/** The position of an event of a job (training_events_id). */
export const FIND_EVENT_POSITION = `
SELECT position
FROM training_events
WHERE id = @id AND job_id = @job_id
`

/** The events of an attempt after a position (training_events_job_id_position). */
export const LIST_EVENTS = `
SELECT
  id,
  type,
  data_json
FROM training_events
WHERE job_id = @job_id AND attempt = @attempt AND position > @after_position
ORDER BY position
LIMIT @count
`
