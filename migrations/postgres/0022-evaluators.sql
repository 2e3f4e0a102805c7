-- What scores the calls of a project by itself.
CREATE TABLE evaluators (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  project_id text NOT NULL,
  name text NOT NULL,
  -- Of the definition; from 1.
  version bigint NOT NULL,
  definition_json text NOT NULL,
  -- The published object of the version, and the monitor that it runs; null: none.
  ref text NOT NULL,
  monitor_ref text,
  state text NOT NULL CHECK (state IN ('active', 'paused')),
  -- Who pays for its judges.
  principal_json text NOT NULL,
  -- Calls that were stored later are scored.
  from_position bigint NOT NULL,
  -- Consecutive failures of its model, and until when it rests for them.
  failures bigint NOT NULL,
  retry_at_us bigint NOT NULL,
  last_error text,
  -- The calls that are scored later; null: none are.
  backfill_json text,
  created_at_us bigint NOT NULL,
  updated_at_us bigint NOT NULL
);
CREATE UNIQUE INDEX evaluators_project_id_name ON evaluators (project_id, name);

CREATE TABLE evaluator_versions (
  evaluator_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  definition_json text NOT NULL,
  ref text NOT NULL,
  svc_user_id text NOT NULL,
  created_at_us bigint NOT NULL,
  PRIMARY KEY (evaluator_id, version)
);

-- What waits to be scored, or is being scored: a call, trace or conversation.
CREATE TABLE evaluator_tasks (
  evaluator_id text COLLATE "C" NOT NULL,
  subject_id text COLLATE "C" NOT NULL,
  is_backfill bigint NOT NULL,
  queued_at_us bigint NOT NULL,
  due_at_us bigint NOT NULL,
  attempts bigint NOT NULL,
  lease_token text,
  -- 0: nobody holds it.
  lease_expires_at_us bigint NOT NULL,
  PRIMARY KEY (evaluator_id, subject_id)
);
CREATE INDEX evaluator_tasks_evaluator_id_is_backfill_due_at_us
ON evaluator_tasks (evaluator_id, is_backfill, due_at_us, lease_expires_at_us);

-- Counts of one day in UTC, by days since the epoch.
CREATE TABLE evaluator_days (
  evaluator_id text COLLATE "C" NOT NULL,
  day bigint NOT NULL,
  scored bigint NOT NULL,
  failed bigint NOT NULL,
  dropped bigint NOT NULL,
  spent_nanos bigint NOT NULL,
  PRIMARY KEY (evaluator_id, day)
);

-- How far the calls are queued; one row, from the first evaluator on.
CREATE TABLE evaluator_feed (
  id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
  position bigint NOT NULL
);
