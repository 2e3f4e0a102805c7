-- The queue of training jobs. Jobs and checkpoints that are there stay what they are.

-- Steps are given out once: last_step never goes back, whatever is deleted.
ALTER TABLE preview_models ADD COLUMN last_step INTEGER NOT NULL DEFAULT 0 CHECK (last_step >= 0);
ALTER TABLE preview_models ADD COLUMN deleted_at_us INTEGER;

UPDATE preview_models
SET last_step = (
  SELECT coalesce(max(step), 0) FROM checkpoints WHERE checkpoints.model_id = preview_models.id
);

-- The name of a deleted model is free again.
DROP INDEX preview_models_entity_project_name;
CREATE UNIQUE INDEX preview_models_entity_project_name
ON preview_models (entity, project, name) WHERE deleted_at_us IS NULL;
CREATE INDEX preview_models_past_names
ON preview_models (entity, project, name, last_step) WHERE deleted_at_us IS NOT NULL;
CREATE INDEX preview_models_created_at_us ON preview_models (created_at_us, id);

-- Made anew: a column at a time would take many times longer.
CREATE TABLE queued_training_jobs (
  id TEXT NOT NULL PRIMARY KEY,
  model_id TEXT NOT NULL REFERENCES preview_models (id),
  -- Place in the model's queue, from 1: jobs of a model run one after the other.
  seq INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  payload_path TEXT NOT NULL,
  payload_sha256 TEXT NOT NULL CHECK (length(payload_sha256) = 64),
  payload_bytes INTEGER NOT NULL,
  -- As the client sent it; null when it was null or absent.
  config_json TEXT,
  idempotency_key TEXT,
  group_count INTEGER NOT NULL,
  trajectory_count INTEGER NOT NULL,
  -- Trajectories with at least one choice.
  trainable_count INTEGER NOT NULL,
  created_at_us INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  -- Attempts are numbered from 1 and never reused; those that were released do not count against the limit.
  attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  released_count INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 3,
  available_at_us INTEGER NOT NULL DEFAULT 0,
  oldest_policy_version INTEGER,
  resolved_config_json TEXT,
  parent_checkpoint_id TEXT REFERENCES checkpoints (id),
  policy_lag INTEGER,
  worker_id TEXT,
  worker_version TEXT,
  -- The lease of the running attempt; the hash stays after the end, for a repeated complete.
  lease_token_hash TEXT,
  lease_expires_at_us INTEGER,
  attempt_deadline_us INTEGER,
  last_heartbeat_at_us INTEGER,
  progress REAL,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  -- The uploaded artifact of the running attempt, relative to the data directory.
  staged_path TEXT,
  staged_sha256 TEXT,
  staged_bytes INTEGER,
  -- Why there was nothing to train on; null when there was, or when it is not known yet.
  untrained_reason TEXT,
  error_code TEXT,
  error_message TEXT,
  result_checkpoint_id TEXT REFERENCES checkpoints (id),
  started_at_us INTEGER,
  finished_at_us INTEGER
) STRICT;

INSERT INTO queued_training_jobs (
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
SELECT
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
FROM training_jobs;

DROP TABLE training_jobs;
ALTER TABLE queued_training_jobs RENAME TO training_jobs;

CREATE UNIQUE INDEX training_jobs_model_id_seq ON training_jobs (model_id, seq);
CREATE UNIQUE INDEX training_jobs_model_id_idempotency_key
ON training_jobs (model_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX training_jobs_running ON training_jobs (model_id) WHERE state = 'running';
CREATE INDEX training_jobs_unfinished
ON training_jobs (model_id, seq) WHERE state IN ('queued', 'running');
CREATE INDEX training_jobs_created_at_us ON training_jobs (created_at_us, id);

-- What happened in the attempts of a job. position orders them as they came, so that a reader who follows
-- misses none; seq is the worker's number, null for events of the server's.
CREATE TABLE training_events (
  position INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  job_id TEXT NOT NULL REFERENCES training_jobs (id),
  attempt INTEGER NOT NULL,
  seq INTEGER,
  type TEXT NOT NULL CHECK (
    type IN ('training_started', 'gradient_step', 'training_ended', 'training_failed')
  ),
  data_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX training_events_id ON training_events (id);
CREATE UNIQUE INDEX training_events_job_id_attempt_seq ON training_events (job_id, attempt, seq);
CREATE INDEX training_events_job_id_position ON training_events (job_id, attempt, position);

-- A checkpoint without a path holds the weights of the base model. Several may share a file.
ALTER TABLE checkpoints ADD COLUMN job_id TEXT REFERENCES training_jobs (id);
ALTER TABLE checkpoints ADD COLUMN artifact_path TEXT;
ALTER TABLE checkpoints ADD COLUMN artifact_sha256 TEXT;
ALTER TABLE checkpoints ADD COLUMN artifact_bytes INTEGER;
ALTER TABLE checkpoints ADD COLUMN worker_id TEXT;
ALTER TABLE checkpoints ADD COLUMN worker_version TEXT;

CREATE UNIQUE INDEX checkpoints_job_id ON checkpoints (job_id);
CREATE INDEX checkpoints_artifact_path ON checkpoints (artifact_path);
