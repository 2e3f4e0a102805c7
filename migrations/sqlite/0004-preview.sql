-- Models of the training preview; a name is unique in its project.
CREATE TABLE preview_models (
  id TEXT NOT NULL PRIMARY KEY,
  entity TEXT NOT NULL,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  base_model TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  created_by TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX preview_models_entity_project_name ON preview_models (entity, project, name);

-- Training jobs. The trajectory groups lie in a file that is on the disk before the row is committed;
-- payload_path is relative to the data directory, so that the directory can be moved.
CREATE TABLE training_jobs (
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
  created_by TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX training_jobs_model_id_seq ON training_jobs (model_id, seq);
CREATE UNIQUE INDEX training_jobs_model_id_idempotency_key
ON training_jobs (model_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- Checkpoints. A deleted row stays: its id is still a cursor and its step is never given out again.
CREATE TABLE checkpoints (
  id TEXT NOT NULL PRIMARY KEY,
  model_id TEXT NOT NULL REFERENCES preview_models (id),
  step INTEGER NOT NULL CHECK (step >= 0),
  metrics_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  deleted_at_us INTEGER
) STRICT;

CREATE UNIQUE INDEX checkpoints_model_id_step ON checkpoints (model_id, step);
