-- Conditions on statistics and scores that are checked regularly, and the state of each.
CREATE TABLE alerts (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  project_id text COLLATE "C" NOT NULL,
  created_at_us bigint NOT NULL,
  settings_json text NOT NULL,
  -- Signs what is sent; shown only when it is made.
  secret text NOT NULL,
  is_enabled integer NOT NULL,
  next_check_at_us bigint NOT NULL,
  -- Of the process that checks it; null: none does.
  claim_id text,
  is_firing integer NOT NULL,
  -- Checks in a row that speak for the other state.
  streak integer NOT NULL,
  value double precision,
  checked_at_us bigint,
  changed_at_us bigint,
  error text
);
CREATE INDEX alerts_project_id ON alerts (project_id, created_at_us, id);
CREATE INDEX alerts_next_check_at_us ON alerts (next_check_at_us, id) WHERE is_enabled = 1;

-- Changes of the state, and how far each is delivered.
CREATE TABLE alert_events (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  alert_id text COLLATE "C" NOT NULL,
  created_at_us bigint NOT NULL,
  kind text NOT NULL,
  value double precision,
  threshold double precision NOT NULL,
  window_s integer NOT NULL,
  delivery text NOT NULL,
  attempts integer NOT NULL,
  next_attempt_at_us bigint NOT NULL,
  -- Of the process that sends it; null: none does.
  claim_id text,
  response_status integer,
  error text,
  delivered_at_us bigint
);
CREATE INDEX alert_events_alert_id ON alert_events (alert_id, created_at_us, id);
CREATE INDEX alert_events_pending ON alert_events (next_attempt_at_us, id) WHERE delivery = 'pending';
