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

CREATE INDEX alerts_next_check_at_us ON alerts (next_check_at_us, id) WHERE is_enabled = 1;

CREATE INDEX alerts_project_id ON alerts (project_id, created_at_us, id);

CREATE TABLE "annotation_items" (
  item_key INTEGER NOT NULL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  queue_key INTEGER NOT NULL REFERENCES annotation_queues (queue_key),
  call_id TEXT NOT NULL,
  call_trace_id TEXT NOT NULL,
  call_op_name TEXT NOT NULL,
  call_started_at_us INTEGER NOT NULL,
  call_ended_at_us INTEGER,
  display_fields_json TEXT NOT NULL,
  added_by TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  -- State, annotator and time are those of the annotator who was heard of last.
  annotation_state TEXT NOT NULL DEFAULT 'unstarted'
  CHECK (annotation_state IN ('unstarted', 'in_progress', 'completed', 'skipped')),
  annotator_user_id TEXT,
  -- 1 when any annotator has completed or skipped it.
  is_done INTEGER NOT NULL DEFAULT 0 CHECK (is_done IN (0, 1))
) STRICT;

CREATE INDEX annotation_items_queue_key ON annotation_items (queue_key);

CREATE UNIQUE INDEX annotation_items_queue_key_call_id ON annotation_items (queue_key, call_id);

CREATE INDEX annotation_items_queue_key_is_done ON annotation_items (queue_key, is_done);

CREATE TABLE annotation_progress (
  item_key INTEGER NOT NULL REFERENCES annotation_items (item_key),
  annotator_user_id TEXT NOT NULL,
  annotation_state TEXT NOT NULL CHECK (annotation_state IN ('in_progress', 'completed', 'skipped')),
  updated_at_us INTEGER NOT NULL,
  PRIMARY KEY (item_key, annotator_user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE annotation_queues (
  queue_key INTEGER NOT NULL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  scorer_refs_json TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  deleted_at_us INTEGER
, queue_type TEXT NOT NULL DEFAULT 'call' CHECK (queue_type IN ('call', 'span')), rules_json TEXT, rules_position INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX annotation_queues_project_id ON annotation_queues (project_id) WHERE deleted_at_us IS NULL;

CREATE INDEX annotation_queues_project_id_rules
ON annotation_queues (project_id) WHERE rules_json IS NOT NULL AND deleted_at_us IS NULL;

CREATE TABLE audit_entries (
  id TEXT NOT NULL PRIMARY KEY,
  created_at_us INTEGER NOT NULL,
  svc_user_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  -- Address of the other end of the connection, and what a proxy says of the client; null: no request.
  address TEXT,
  forwarded_for TEXT,
  action TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  -- Project patterns; who reads the entry must own all of them.
  projects_json TEXT NOT NULL,
  -- Never with a secret.
  before_json TEXT,
  after_json TEXT
) STRICT;

CREATE INDEX audit_entries_action ON audit_entries (action, created_at_us, id);

CREATE INDEX audit_entries_created_at_us ON audit_entries (created_at_us, id);

CREATE INDEX audit_entries_svc_user_id ON audit_entries (svc_user_id, created_at_us, id);

CREATE TABLE budget_leases (
  id TEXT NOT NULL PRIMARY KEY,
  budget_id TEXT NOT NULL,
  period_start_us INTEGER NOT NULL,
  held_nanos INTEGER NOT NULL,
  -- Of this lease since its begin, all of it in budget_spending.
  settled_nanos INTEGER NOT NULL,
  expires_at_us INTEGER NOT NULL
) STRICT;

CREATE INDEX budget_leases_budget_id ON budget_leases (budget_id, period_start_us);

CREATE TABLE budget_spending (
  budget_id TEXT NOT NULL,
  period_start_us INTEGER NOT NULL,
  spent_nanos INTEGER NOT NULL,
  PRIMARY KEY (budget_id, period_start_us)
) STRICT;

CREATE TABLE budgets (
  id TEXT NOT NULL PRIMARY KEY,
  subject_kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  period TEXT NOT NULL,
  zone TEXT NOT NULL,
  hard_nanos INTEGER,
  soft_nanos INTEGER,
  created_at_us INTEGER NOT NULL
) STRICT;

CREATE INDEX budgets_created_at_us ON budgets (created_at_us, id);

CREATE INDEX budgets_subject ON budgets (subject_kind, subject_id);

CREATE TABLE cached_completion_totals (
  id INTEGER NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE cached_completions (
  digest TEXT NOT NULL PRIMARY KEY,
  created_at_us INTEGER NOT NULL,
  expires_at_us INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  response_json TEXT NOT NULL
) STRICT;

CREATE INDEX cached_completions_created_at_us ON cached_completions (created_at_us, digest);

CREATE INDEX cached_completions_expires_at_us ON cached_completions (expires_at_us);

CREATE TABLE call_bodies (
  call_key INTEGER NOT NULL PRIMARY KEY REFERENCES calls (call_key),
  attributes_json TEXT,
  inputs_json TEXT,
  output_json TEXT,
  summary_json TEXT,
  otel_dump_json TEXT
, attributes_zstd BLOB, inputs_zstd BLOB, output_zstd BLOB, summary_zstd BLOB, otel_dump_zstd BLOB) STRICT;

CREATE TABLE call_logs (
  project_id TEXT NOT NULL,
  -- Also the id of the call.
  span_id TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  received_at_us INTEGER NOT NULL,
  -- Whether the call is stored with them.
  is_joined INTEGER NOT NULL DEFAULT 0,
  ref_scheme TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  -- A list of events of a span, each JSON as a text.
  events_json TEXT NOT NULL,
  PRIMARY KEY (project_id, span_id, trace_id)
) STRICT;

CREATE INDEX call_logs_is_joined_received_at_us ON call_logs (is_joined, received_at_us, size_bytes);

CREATE TABLE "call_refs" (
  call_key INTEGER NOT NULL REFERENCES calls (call_key),
  is_output INTEGER NOT NULL CHECK (is_output IN (0, 1)),
  ref_key INTEGER NOT NULL REFERENCES refs (ref_key), path_key INTEGER REFERENCES ref_paths (path_key),
  PRIMARY KEY (call_key, is_output, ref_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX call_refs_ref_key ON call_refs (ref_key, is_output, call_key);

CREATE TABLE call_requests (
  call_key INTEGER PRIMARY KEY,
  project_key INTEGER NOT NULL,
  -- A hash of the response's id.
  response_key TEXT,
  -- The call that the client names as the same request.
  linked_id ANY,
  -- Equal in all calls of a request; NULL while the call does not count.
  identity TEXT,
  -- 1 where so many calls share the identity that it is none.
  is_shared INTEGER NOT NULL DEFAULT 0 CHECK (is_shared IN (0, 1))
) STRICT;

CREATE INDEX call_requests_project_key_identity ON call_requests (project_key, identity)
WHERE identity IS NOT NULL;

CREATE INDEX call_requests_project_key_linked_id ON call_requests (project_key, linked_id)
WHERE linked_id IS NOT NULL;

CREATE TABLE call_usage (
  call_key INTEGER NOT NULL REFERENCES calls (call_key),
  model TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  -- Input tokens that no cache had: what the full input price is paid for.
  uncached_input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  total_tokens INTEGER NOT NULL,
  cache_read_input_tokens INTEGER NOT NULL,
  cache_creation_input_tokens INTEGER NOT NULL, requests INTEGER NOT NULL DEFAULT 1 CHECK (requests >= 0), tells_requests INTEGER NOT NULL DEFAULT 1
CHECK (tells_requests IN (0, 1)), nested_requests INTEGER, nested_input_tokens INTEGER, nested_uncached_input_tokens INTEGER, nested_output_tokens INTEGER, nested_total_tokens INTEGER, nested_cache_read_input_tokens INTEGER, nested_cache_creation_input_tokens INTEGER, input_audio_tokens INTEGER NOT NULL DEFAULT 0 CHECK (input_audio_tokens >= 0), input_image_tokens INTEGER NOT NULL DEFAULT 0 CHECK (input_image_tokens >= 0), cache_read_audio_tokens INTEGER NOT NULL DEFAULT 0 CHECK (cache_read_audio_tokens >= 0), cache_creation_1h_input_tokens INTEGER NOT NULL DEFAULT 0 CHECK (cache_creation_1h_input_tokens >= 0), reasoning_tokens INTEGER NOT NULL DEFAULT 0 CHECK (reasoning_tokens >= 0), output_audio_tokens INTEGER NOT NULL DEFAULT 0 CHECK (output_audio_tokens >= 0), output_image_tokens INTEGER NOT NULL DEFAULT 0 CHECK (output_image_tokens >= 0), nested_input_audio_tokens INTEGER, nested_input_image_tokens INTEGER, nested_cache_read_audio_tokens INTEGER, nested_cache_creation_1h_input_tokens INTEGER, nested_reasoning_tokens INTEGER, nested_output_audio_tokens INTEGER, nested_output_image_tokens INTEGER, provider TEXT, upstream_model TEXT, service_tier TEXT, reports_cost INTEGER NOT NULL DEFAULT 0 CHECK (reports_cost IN (0, 1)), reported_cost_microcents INTEGER NOT NULL DEFAULT 0 CHECK (reported_cost_microcents >= 0), nested_reported_cost_microcents INTEGER, below_input_tokens INTEGER, below_output_tokens INTEGER, repeats INTEGER NOT NULL DEFAULT 0 CHECK (repeats BETWEEN 0 AND 3),
  PRIMARY KEY (call_key, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE "calls" (
  call_key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  project_key INTEGER NOT NULL REFERENCES projects (project_key),
  id ANY NOT NULL,
  trace_id ANY,
  parent_id ANY,
  thread_id ANY,
  turn_id ANY,
  op_key INTEGER REFERENCES ops (op_key),
  display_name TEXT,
  started_at_us INTEGER,
  ended_at_us INTEGER,
  exception TEXT,
  svc_user_id TEXT,
  svc_username TEXT,
  svc_run_id TEXT,
  svc_run_step INTEGER,
  svc_run_step_end INTEGER,
  storage_size_bytes INTEGER NOT NULL DEFAULT 0,
  deleted_at_us INTEGER,
  -- 1 when display_name was given by an update, which may come before the start and outlives it.
  is_renamed INTEGER NOT NULL DEFAULT 0 CHECK (is_renamed IN (0, 1))
, is_freed INTEGER NOT NULL DEFAULT 0 CHECK (is_freed IN (0, 1)), end_user_id TEXT, is_orphan INTEGER NOT NULL DEFAULT 0 CHECK (is_orphan IN (0, 1))) STRICT;

CREATE INDEX calls_failed ON calls (project_key, trace_id) WHERE exception IS NOT NULL;

CREATE INDEX calls_orphans ON calls (project_key, parent_id) WHERE is_orphan = 1;

CREATE INDEX calls_project_key_end_user_id_started_at_us
ON calls (project_key, end_user_id, started_at_us) WHERE end_user_id IS NOT NULL;

CREATE UNIQUE INDEX calls_project_key_id ON calls (project_key, id);

CREATE INDEX calls_project_key_last_updated
ON calls (project_key, ifnull(ended_at_us, started_at_us), thread_id)
WHERE turn_id = id AND thread_id IS NOT NULL AND started_at_us IS NOT NULL AND deleted_at_us IS NULL;

CREATE INDEX calls_project_key_op_key_started_at_us ON calls (project_key, op_key, started_at_us);

CREATE INDEX calls_project_key_parent_id ON calls (project_key, parent_id) WHERE parent_id IS NOT NULL;

CREATE INDEX calls_project_key_started_at_us ON calls (project_key, started_at_us);

CREATE INDEX calls_project_key_thread_id ON calls (project_key, thread_id) WHERE thread_id IS NOT NULL;

CREATE INDEX calls_project_key_trace_id ON calls (project_key, trace_id);

CREATE INDEX calls_project_key_turn_id ON calls (project_key, turn_id) WHERE turn_id IS NOT NULL;

CREATE INDEX calls_unfreed ON calls (call_key) WHERE deleted_at_us IS NOT NULL AND is_freed = 0;

CREATE INDEX calls_unstarted ON calls (project_key, coalesce(ended_at_us, deleted_at_us))
WHERE started_at_us IS NULL;

CREATE TABLE checkpoints (
  id TEXT NOT NULL PRIMARY KEY,
  model_id TEXT NOT NULL REFERENCES preview_models (id),
  step INTEGER NOT NULL CHECK (step >= 0),
  metrics_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  deleted_at_us INTEGER
, job_id TEXT REFERENCES training_jobs (id), artifact_path TEXT, artifact_sha256 TEXT, artifact_bytes INTEGER, worker_id TEXT, worker_version TEXT) STRICT;

CREATE INDEX checkpoints_artifact_path ON checkpoints (artifact_path);

CREATE UNIQUE INDEX checkpoints_job_id ON checkpoints (job_id);

CREATE UNIQUE INDEX checkpoints_model_id_step ON checkpoints (model_id, step);

CREATE TABLE evaluation_jobs (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  work_json TEXT NOT NULL,
  -- Who began it and pays.
  principal_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  state TEXT NOT NULL,
  completed_rows INTEGER NOT NULL,
  total_rows INTEGER NOT NULL,
  -- How often a process has begun with it.
  attempts INTEGER NOT NULL,
  error TEXT,
  output_json TEXT,
  -- Of the process that runs it; null: none does.
  claim_id TEXT,
  claimed_until_us INTEGER NOT NULL
) STRICT;

CREATE INDEX evaluation_jobs_comparisons ON evaluation_jobs (project_id, created_at_us, id)
WHERE state <> 'running' AND substr(work_json, 1, 17) = '{"kind":"compare"';

CREATE INDEX evaluation_jobs_finished ON evaluation_jobs (created_at_us, id) WHERE state <> 'running';

CREATE INDEX evaluation_jobs_running ON evaluation_jobs (created_at_us, id) WHERE state = 'running';

CREATE TABLE evaluator_days (
  evaluator_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  scored INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  spent_nanos INTEGER NOT NULL,
  PRIMARY KEY (evaluator_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluator_feed (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL
) STRICT;

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

CREATE TABLE evaluator_versions (
  evaluator_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  definition_json TEXT NOT NULL,
  ref TEXT NOT NULL,
  svc_user_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  PRIMARY KEY (evaluator_id, version)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE export_tickets (
  token_hash TEXT NOT NULL PRIMARY KEY,
  key_id TEXT NOT NULL,
  ticket_json TEXT NOT NULL,
  expires_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE feedback (
  feedback_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  id TEXT NOT NULL,
  weave_ref TEXT NOT NULL,
  feedback_type TEXT NOT NULL,
  creator TEXT,
  annotation_ref TEXT,
  runnable_ref TEXT,
  call_ref TEXT,
  trigger_ref TEXT,
  queue_id TEXT,
  svc_user_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  payload_json TEXT NOT NULL
, scores_json TEXT) STRICT;

CREATE INDEX feedback_project_id_created_at_us_id_feedback_type_trigger_ref
ON feedback (project_id, created_at_us, id, feedback_type, trigger_ref);

CREATE INDEX feedback_project_id_feedback_type_trigger_ref_created_at_us_id
ON feedback (project_id, feedback_type, trigger_ref, created_at_us, id);

CREATE UNIQUE INDEX feedback_project_id_id ON feedback (project_id, id);

CREATE INDEX feedback_project_id_weave_ref_created_at_us
ON feedback (project_id, weave_ref, created_at_us);

CREATE TABLE files (
  file_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content BLOB,
  path TEXT,
  CHECK ((content IS NULL) <> (path IS NULL))
) STRICT;

CREATE UNIQUE INDEX files_project_id_digest ON files (project_id, digest);

CREATE TABLE json_values (
  value_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  -- SHA-256 of the canonical text, 43 characters.
  digest TEXT NOT NULL,
  -- As the first client sent it.
  val_json TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX json_values_project_id_digest ON json_values (project_id, digest);

CREATE TABLE keys (
  id TEXT NOT NULL PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  svc_user_id TEXT NOT NULL,
  svc_username TEXT NOT NULL,
  scopes_json TEXT NOT NULL,
  projects_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  revoked_at_us INTEGER
, name TEXT, expires_at_us INTEGER, models_json TEXT, requests_per_minute INTEGER, tokens_per_minute INTEGER, parallel_requests INTEGER, last_used_day INTEGER, previous_hash BLOB, previous_expires_at_us INTEGER) STRICT;

CREATE INDEX keys_created_at_us ON keys (created_at_us, id);

CREATE UNIQUE INDEX keys_previous_hash ON keys (previous_hash) WHERE previous_hash IS NOT NULL;

CREATE TABLE migrations (
  version INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at_us INTEGER NOT NULL
) STRICT
;

CREATE TABLE object_aliases (
  project_id TEXT NOT NULL,
  object_id TEXT NOT NULL,
  alias TEXT NOT NULL,
  object_key INTEGER NOT NULL REFERENCES objects (object_key),
  PRIMARY KEY (project_id, object_id, alias)
) STRICT, WITHOUT ROWID;

CREATE INDEX object_aliases_object_key ON object_aliases (object_key, alias);

CREATE TABLE object_tags (
  object_key INTEGER NOT NULL REFERENCES objects (object_key),
  tag TEXT NOT NULL,
  PRIMARY KEY (object_key, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE objects (
  object_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  object_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  -- From 0; never given out again.
  version_index INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('op', 'object')),
  base_object_class TEXT,
  leaf_object_class TEXT,
  svc_user_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  deleted_at_us INTEGER
) STRICT;

CREATE INDEX objects_project_id_created_at_us
ON objects (project_id, created_at_us) WHERE deleted_at_us IS NULL;

CREATE INDEX objects_project_id_object_id_deleted_at_us_version_index
ON objects (project_id, object_id, deleted_at_us, version_index);

CREATE UNIQUE INDEX objects_project_id_object_id_digest ON objects (project_id, object_id, digest);

CREATE UNIQUE INDEX objects_project_id_object_id_version_index
ON objects (project_id, object_id, version_index);

CREATE TABLE ops (
  op_key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  op_name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE people (
  id TEXT NOT NULL PRIMARY KEY,
  issuer TEXT,
  subject TEXT,
  email TEXT,
  name TEXT,
  -- Roles by project patterns: what admins gave, and what the claims of the last sign-in gave.
  grants_json TEXT NOT NULL,
  claim_grants_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  signed_in_at_us INTEGER,
  -- Sessions that began before are over.
  sessions_from_us INTEGER NOT NULL,
  disabled_at_us INTEGER
, password_hash TEXT, password_set_at_us INTEGER, link_hash TEXT, link_expires_at_us INTEGER) STRICT;

CREATE INDEX people_created_at_us ON people (created_at_us, id);

CREATE UNIQUE INDEX people_email ON people (email);

CREATE UNIQUE INDEX people_link_hash ON people (link_hash);

CREATE UNIQUE INDEX people_subject ON people (issuer, subject);

CREATE TABLE preview_models (
  id TEXT NOT NULL PRIMARY KEY,
  entity TEXT NOT NULL,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  base_model TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  created_by TEXT NOT NULL
, last_step INTEGER NOT NULL DEFAULT 0 CHECK (last_step >= 0), deleted_at_us INTEGER) STRICT;

CREATE INDEX preview_models_created_at_us ON preview_models (created_at_us, id);

CREATE UNIQUE INDEX preview_models_entity_project_name
ON preview_models (entity, project, name) WHERE deleted_at_us IS NULL;

CREATE INDEX preview_models_name_created_at_us
ON preview_models (name, created_at_us, id) WHERE deleted_at_us IS NULL;

CREATE INDEX preview_models_past_names
ON preview_models (entity, project, name, last_step) WHERE deleted_at_us IS NOT NULL;

CREATE TABLE prices (
  price_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  id TEXT NOT NULL,
  llm_id TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  effective_at_us INTEGER NOT NULL,
  prompt_token_cost TEXT NOT NULL,
  completion_token_cost TEXT NOT NULL,
  -- null: cached tokens cost what other input tokens cost.
  cache_read_input_token_cost TEXT,
  cache_creation_input_token_cost TEXT,
  svc_user_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX prices_project_id_id ON prices (project_id, id);

CREATE TABLE project_redaction (
  project_id TEXT NOT NULL PRIMARY KEY,
  rules_json TEXT NOT NULL
) STRICT;

CREATE TABLE project_retention (
  project_id TEXT NOT NULL PRIMARY KEY,
  retention_days INTEGER
) STRICT;

CREATE TABLE projects (
  project_key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  project_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE ref_paths (
  path_key INTEGER NOT NULL PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE refs (
  ref_key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  ref TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE responses (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT,
  key_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  previous_response_id TEXT,
  -- As it was answered.
  response_json TEXT NOT NULL,
  -- The items of its own input, each with an id.
  input_json TEXT NOT NULL
) STRICT;

CREATE TABLE served_aliases (
  project_id TEXT NOT NULL,
  name TEXT NOT NULL,
  target TEXT NOT NULL,
  -- The model that gets a share of the traffic, and its percent; both or neither.
  candidate TEXT,
  candidate_percent REAL,
  -- JSON list of earlier targets, the newest first.
  earlier_json TEXT NOT NULL,
  updated_at_us INTEGER NOT NULL,
  PRIMARY KEY (project_id, name)
) STRICT;

CREATE TABLE stats_changes (
  hour_key INTEGER NOT NULL REFERENCES stats_hours (hour_key),
  revision INTEGER NOT NULL,
  entries_json TEXT NOT NULL,
  PRIMARY KEY (hour_key, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE stats_columns (
  column_key INTEGER NOT NULL PRIMARY KEY,
  body BLOB NOT NULL
) STRICT;

CREATE TABLE stats_hours (
  hour_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  -- Raised by every commit that changed calls of the hour.
  revision INTEGER NOT NULL DEFAULT 1,
  -- Raised with it when a call went, or came by a row that was there before.
  generation INTEGER NOT NULL DEFAULT 0, built_revision INTEGER DEFAULT 0, pieces INTEGER NOT NULL DEFAULT 0, pending INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE UNIQUE INDEX stats_hours_project_id_hour ON stats_hours (project_id, hour);

CREATE INDEX stats_hours_unbuilt ON stats_hours (hour_key) WHERE built_revision IS NOT revision;

CREATE TABLE stats_segments (
  segment_key INTEGER NOT NULL PRIMARY KEY,
  body BLOB NOT NULL
) STRICT;

CREATE TABLE table_blocks (
  table_key INTEGER NOT NULL REFERENCES tables (table_key),
  block INTEGER NOT NULL,
  value_keys BLOB NOT NULL,
  PRIMARY KEY (table_key, block)
) STRICT;

CREATE TABLE tables (
  table_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  -- SHA-256 of the row digests, 64 characters.
  digest TEXT NOT NULL,
  row_count INTEGER NOT NULL,
  storage_size_bytes INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX tables_project_id_digest ON tables (project_id, digest);

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

CREATE TABLE "training_jobs" (
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
, source_json TEXT) STRICT;

CREATE INDEX training_jobs_created_at_us ON training_jobs (created_at_us, id);

CREATE UNIQUE INDEX training_jobs_model_id_idempotency_key
ON training_jobs (model_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE UNIQUE INDEX training_jobs_model_id_seq ON training_jobs (model_id, seq);

CREATE UNIQUE INDEX training_jobs_running ON training_jobs (model_id) WHERE state = 'running';

CREATE INDEX training_jobs_state_created_at_us ON training_jobs (state, created_at_us, id);

CREATE INDEX training_jobs_unfinished
ON training_jobs (model_id, seq) WHERE state IN ('queued', 'running');
