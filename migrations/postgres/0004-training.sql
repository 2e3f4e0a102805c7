CREATE TABLE preview_models (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  entity text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  base_model text NOT NULL,
  created_at_us bigint NOT NULL,
  created_by text NOT NULL,
  last_step integer NOT NULL DEFAULT 0 CHECK (last_step >= 0),
  deleted_at_us bigint
);

CREATE INDEX preview_models_created_at_us ON preview_models (created_at_us, id);

CREATE UNIQUE INDEX preview_models_entity_project_name
ON preview_models (entity, project, name) WHERE deleted_at_us IS NULL;

CREATE INDEX preview_models_past_names
ON preview_models (entity, project, name, last_step) WHERE deleted_at_us IS NOT NULL;

CREATE TABLE training_jobs (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  model_id text COLLATE "C" NOT NULL REFERENCES preview_models (id),
  -- Place in the model's queue, from 1: jobs of a model run one after the other.
  seq integer NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  payload_path text COLLATE "C" NOT NULL,
  payload_sha256 text NOT NULL CHECK (length(payload_sha256) = 64),
  payload_bytes bigint NOT NULL,
  -- As the client sent it; null when it was null or absent.
  config_json text,
  idempotency_key text COLLATE "C",
  group_count integer NOT NULL,
  trajectory_count integer NOT NULL,
  -- Trajectories with at least one choice.
  trainable_count integer NOT NULL,
  created_at_us bigint NOT NULL,
  created_by text NOT NULL,
  -- Attempts are numbered from 1 and never reused; those that were released do not count against the limit.
  attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  released_count integer NOT NULL DEFAULT 0,
  max_attempts integer NOT NULL DEFAULT 3,
  available_at_us bigint NOT NULL DEFAULT 0,
  oldest_policy_version integer,
  resolved_config_json text,
  parent_checkpoint_id text COLLATE "C",
  policy_lag integer,
  worker_id text,
  worker_version text,
  -- The lease of the running attempt; the hash stays after the end, for a repeated complete.
  lease_token_hash text,
  lease_expires_at_us bigint,
  attempt_deadline_us bigint,
  last_heartbeat_at_us bigint,
  progress double precision,
  cancel_requested integer NOT NULL DEFAULT 0,
  -- The uploaded artifact of the running attempt.
  staged_path text COLLATE "C",
  staged_sha256 text,
  staged_bytes bigint,
  -- Why there was nothing to train on; null when there was, or when it is not known yet.
  untrained_reason text,
  error_code text,
  error_message text,
  result_checkpoint_id text COLLATE "C",
  started_at_us bigint,
  finished_at_us bigint
);

CREATE INDEX training_jobs_created_at_us ON training_jobs (created_at_us, id);

CREATE UNIQUE INDEX training_jobs_model_id_idempotency_key
ON training_jobs (model_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE UNIQUE INDEX training_jobs_model_id_seq ON training_jobs (model_id, seq);

CREATE UNIQUE INDEX training_jobs_running ON training_jobs (model_id) WHERE state = 'running';

CREATE INDEX training_jobs_unfinished
ON training_jobs (model_id, seq) WHERE state IN ('queued', 'running');

CREATE INDEX training_jobs_payload_path ON training_jobs (payload_path);

CREATE TABLE checkpoints (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  model_id text COLLATE "C" NOT NULL REFERENCES preview_models (id),
  step integer NOT NULL CHECK (step >= 0),
  metrics_json text NOT NULL,
  created_at_us bigint NOT NULL,
  deleted_at_us bigint,
  job_id text COLLATE "C" UNIQUE REFERENCES training_jobs (id),
  artifact_path text COLLATE "C",
  artifact_sha256 text,
  artifact_bytes bigint,
  worker_id text,
  worker_version text,
  UNIQUE (model_id, step)
);

CREATE INDEX checkpoints_artifact_path ON checkpoints (artifact_path);

ALTER TABLE training_jobs
ADD FOREIGN KEY (parent_checkpoint_id) REFERENCES checkpoints (id),
ADD FOREIGN KEY (result_checkpoint_id) REFERENCES checkpoints (id);

CREATE TABLE training_events (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  job_id text COLLATE "C" NOT NULL REFERENCES training_jobs (id),
  attempt integer NOT NULL,
  seq integer,
  type text NOT NULL CHECK (
    type IN ('training_started', 'gradient_step', 'training_ended', 'training_failed')
  ),
  data_json text NOT NULL,
  created_at_us bigint NOT NULL,
  UNIQUE (job_id, attempt, seq)
);

CREATE INDEX training_events_job_id_position ON training_events (job_id, attempt, position);

-- Payloads of jobs, and weights of checkpoints.
CREATE TABLE blobs (
  path text COLLATE "C" NOT NULL PRIMARY KEY,
  received_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE blob_chunks (
  path text COLLATE "C" NOT NULL REFERENCES blobs (path) ON DELETE CASCADE,
  chunk integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (path, chunk)
);

ALTER TABLE blob_chunks ALTER COLUMN content SET STORAGE EXTERNAL;
