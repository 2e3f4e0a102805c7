-- What scores the calls of a project by itself.
CREATE TABLE evaluators (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Of the definition; from 1.
  version INTEGER NOT NULL,
  definition_json TEXT NOT NULL,
  -- The published object of the version, and the monitor that it runs; null: none.
  ref TEXT NOT NULL,
  monitor_ref TEXT,
  state TEXT NOT NULL CHECK (state IN ('active', 'paused')),
  -- Who pays for its judges.
  principal_json TEXT NOT NULL,
  -- Calls that were stored later are scored.
  from_position INTEGER NOT NULL,
  -- Consecutive failures of its model, and until when it rests for them.
  failures INTEGER NOT NULL,
  retry_at_us INTEGER NOT NULL,
  last_error TEXT,
  -- The calls that are scored later; null: none are.
  backfill_json TEXT,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX evaluators_project_id_name ON evaluators (project_id, name);

CREATE TABLE evaluator_versions (
  evaluator_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  definition_json TEXT NOT NULL,
  ref TEXT NOT NULL,
  svc_user_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  PRIMARY KEY (evaluator_id, version)
) STRICT, WITHOUT ROWID;

-- What waits to be scored, or is being scored: a call, trace or conversation.
CREATE TABLE evaluator_tasks (
  evaluator_id TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  is_backfill INTEGER NOT NULL,
  queued_at_us INTEGER NOT NULL,
  due_at_us INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  lease_token TEXT,
  -- 0: nobody holds it.
  lease_expires_at_us INTEGER NOT NULL,
  PRIMARY KEY (evaluator_id, subject_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evaluator_tasks_evaluator_id_is_backfill_due_at_us
ON evaluator_tasks (evaluator_id, is_backfill, due_at_us, lease_expires_at_us);

-- Counts of one day in UTC, by days since the epoch.
CREATE TABLE evaluator_days (
  evaluator_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  scored INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  spent_nanos INTEGER NOT NULL,
  PRIMARY KEY (evaluator_id, day)
) STRICT, WITHOUT ROWID;

-- How far the calls are queued; one row, from the first evaluator on.
CREATE TABLE evaluator_feed (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL
) STRICT;
