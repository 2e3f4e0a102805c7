-- Conditions on statistics and scores that are checked regularly, and the state of each.
CREATE TABLE alerts (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  settings_json TEXT NOT NULL,
  -- Signs what is sent; shown only when it is made.
  secret TEXT NOT NULL,
  is_enabled INTEGER NOT NULL,
  next_check_at_us INTEGER NOT NULL,
  -- Of the process that checks it; null: none does.
  claim_id TEXT,
  is_firing INTEGER NOT NULL,
  -- Checks in a row that speak for the other state.
  streak INTEGER NOT NULL,
  value REAL,
  checked_at_us INTEGER,
  changed_at_us INTEGER,
  error TEXT
) STRICT;
CREATE INDEX alerts_project_id ON alerts (project_id, created_at_us, id);
CREATE INDEX alerts_next_check_at_us ON alerts (next_check_at_us, id) WHERE is_enabled = 1;

-- Changes of the state, and how far each is delivered.
CREATE TABLE alert_events (
  id TEXT NOT NULL PRIMARY KEY,
  alert_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  kind TEXT NOT NULL,
  value REAL,
  threshold REAL NOT NULL,
  window_s INTEGER NOT NULL,
  delivery TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at_us INTEGER NOT NULL,
  -- Of the process that sends it; null: none does.
  claim_id TEXT,
  response_status INTEGER,
  error TEXT,
  delivered_at_us INTEGER
) STRICT;
CREATE INDEX alert_events_alert_id ON alert_events (alert_id, created_at_us, id);
CREATE INDEX alert_events_pending ON alert_events (next_attempt_at_us, id) WHERE delivery = 'pending';
