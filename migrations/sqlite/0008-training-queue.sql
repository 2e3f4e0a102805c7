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

-- Attempts are numbered from 1 and never reused; those that were released do not count against the limit.
ALTER TABLE training_jobs ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0);
ALTER TABLE training_jobs ADD COLUMN released_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE training_jobs ADD COLUMN max_attempts INTEGER NOT NULL DEFAULT 3;
ALTER TABLE training_jobs ADD COLUMN available_at_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE training_jobs ADD COLUMN oldest_policy_version INTEGER;
ALTER TABLE training_jobs ADD COLUMN resolved_config_json TEXT;
ALTER TABLE training_jobs ADD COLUMN parent_checkpoint_id TEXT REFERENCES checkpoints (id);
ALTER TABLE training_jobs ADD COLUMN policy_lag INTEGER;
ALTER TABLE training_jobs ADD COLUMN worker_id TEXT;
ALTER TABLE training_jobs ADD COLUMN worker_version TEXT;
-- The lease of the running attempt; the hash stays after the end, for a repeated complete.
ALTER TABLE training_jobs ADD COLUMN lease_token_hash TEXT;
ALTER TABLE training_jobs ADD COLUMN lease_expires_at_us INTEGER;
ALTER TABLE training_jobs ADD COLUMN attempt_deadline_us INTEGER;
ALTER TABLE training_jobs ADD COLUMN last_heartbeat_at_us INTEGER;
ALTER TABLE training_jobs ADD COLUMN progress REAL;
ALTER TABLE training_jobs ADD COLUMN cancel_requested INTEGER NOT NULL DEFAULT 0;
-- The uploaded artifact of the running attempt, relative to the data directory.
ALTER TABLE training_jobs ADD COLUMN staged_path TEXT;
ALTER TABLE training_jobs ADD COLUMN staged_sha256 TEXT;
ALTER TABLE training_jobs ADD COLUMN staged_bytes INTEGER;
-- Why there was nothing to train on; null when there was, or when it is not known yet.
ALTER TABLE training_jobs ADD COLUMN untrained_reason TEXT;
ALTER TABLE training_jobs ADD COLUMN error_code TEXT;
ALTER TABLE training_jobs ADD COLUMN error_message TEXT;
ALTER TABLE training_jobs ADD COLUMN result_checkpoint_id TEXT REFERENCES checkpoints (id);
ALTER TABLE training_jobs ADD COLUMN started_at_us INTEGER;
ALTER TABLE training_jobs ADD COLUMN finished_at_us INTEGER;

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
