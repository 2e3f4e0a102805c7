-- Calls take less room: projects and ops by a number, ids that are UUIDs or hexadecimal numbers as their bytes. The table
-- is made anew, which takes room for both and time, once: docs/storage.md. The file does not shrink by itself.

-- Where projects and ops are named; a number is never given out again.
CREATE TABLE projects (
  project_key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  project_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE ops (
  op_key INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  op_name TEXT NOT NULL UNIQUE
) STRICT;

INSERT INTO projects (project_id)
SELECT DISTINCT project_id
FROM calls
ORDER BY project_id;

INSERT INTO ops (op_name)
SELECT DISTINCT op_name
FROM calls
WHERE op_name IS NOT NULL
ORDER BY op_name;

-- One row a call, narrow, in order of arrival. A row without started_at_us holds an end whose start has
-- not come yet; a row without ended_at_us is a call that still runs. The key of a call is never given out again. An id is
-- TEXT or BLOB: 16 bytes for a UUID as it is written down, in lower case; 8 bytes for 16 hexadecimal digits; 17 bytes,
-- the first of them 0, for 32.
CREATE TABLE narrow_calls (
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
) STRICT;

INSERT INTO narrow_calls (
  call_key,
  project_key,
  id,
  trace_id,
  parent_id,
  thread_id,
  turn_id,
  op_key,
  display_name,
  started_at_us,
  ended_at_us,
  exception,
  svc_user_id,
  svc_username,
  svc_run_id,
  svc_run_step,
  svc_run_step_end,
  storage_size_bytes,
  deleted_at_us,
  is_renamed
)
SELECT
  call_key,
  (SELECT project_key FROM projects WHERE projects.project_id = calls.project_id),
  CASE octet_length(id)
    WHEN 36 THEN iif(
      id GLOB '????????-????-????-????-????????????'
      AND id = lower(id) AND length(unhex(id, '-')) = 16,
      unhex(id, '-'),
      id
    )
    WHEN 32 THEN iif(id = lower(id) AND length(unhex('00' || id)) = 17, unhex('00' || id), id)
    WHEN 16 THEN iif(id = lower(id) AND length(unhex(id)) = 8, unhex(id), id)
    ELSE id
  END,
  CASE octet_length(trace_id)
    WHEN 36 THEN iif(
      trace_id GLOB '????????-????-????-????-????????????'
      AND trace_id = lower(trace_id) AND length(unhex(trace_id, '-')) = 16,
      unhex(trace_id, '-'),
      trace_id
    )
    WHEN 32 THEN iif(trace_id = lower(trace_id) AND length(unhex('00' || trace_id)) = 17, unhex('00' || trace_id), trace_id)
    WHEN 16 THEN iif(trace_id = lower(trace_id) AND length(unhex(trace_id)) = 8, unhex(trace_id), trace_id)
    ELSE trace_id
  END,
  CASE octet_length(parent_id)
    WHEN 36 THEN iif(
      parent_id GLOB '????????-????-????-????-????????????'
      AND parent_id = lower(parent_id) AND length(unhex(parent_id, '-')) = 16,
      unhex(parent_id, '-'),
      parent_id
    )
    WHEN 32 THEN iif(parent_id = lower(parent_id) AND length(unhex('00' || parent_id)) = 17, unhex('00' || parent_id), parent_id)
    WHEN 16 THEN iif(parent_id = lower(parent_id) AND length(unhex(parent_id)) = 8, unhex(parent_id), parent_id)
    ELSE parent_id
  END,
  CASE octet_length(thread_id)
    WHEN 36 THEN iif(
      thread_id GLOB '????????-????-????-????-????????????'
      AND thread_id = lower(thread_id) AND length(unhex(thread_id, '-')) = 16,
      unhex(thread_id, '-'),
      thread_id
    )
    WHEN 32 THEN iif(thread_id = lower(thread_id) AND length(unhex('00' || thread_id)) = 17, unhex('00' || thread_id), thread_id)
    WHEN 16 THEN iif(thread_id = lower(thread_id) AND length(unhex(thread_id)) = 8, unhex(thread_id), thread_id)
    ELSE thread_id
  END,
  CASE octet_length(turn_id)
    WHEN 36 THEN iif(
      turn_id GLOB '????????-????-????-????-????????????'
      AND turn_id = lower(turn_id) AND length(unhex(turn_id, '-')) = 16,
      unhex(turn_id, '-'),
      turn_id
    )
    WHEN 32 THEN iif(turn_id = lower(turn_id) AND length(unhex('00' || turn_id)) = 17, unhex('00' || turn_id), turn_id)
    WHEN 16 THEN iif(turn_id = lower(turn_id) AND length(unhex(turn_id)) = 8, unhex(turn_id), turn_id)
    ELSE turn_id
  END,
  (SELECT op_key FROM ops WHERE ops.op_name = calls.op_name),
  display_name,
  started_at_us,
  ended_at_us,
  exception,
  svc_user_id,
  svc_username,
  svc_run_id,
  svc_run_step,
  svc_run_step_end,
  storage_size_bytes,
  deleted_at_us,
  is_renamed
FROM calls
ORDER BY call_key;

DROP TABLE calls;
ALTER TABLE narrow_calls RENAME TO calls;

CREATE UNIQUE INDEX calls_project_key_id ON calls (project_key, id);
CREATE INDEX calls_project_key_trace_id ON calls (project_key, trace_id);
CREATE INDEX calls_project_key_started_at_us ON calls (project_key, started_at_us);
CREATE INDEX calls_project_key_op_key_started_at_us ON calls (project_key, op_key, started_at_us);
CREATE INDEX calls_project_key_parent_id ON calls (project_key, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX calls_project_key_thread_id ON calls (project_key, thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX calls_project_key_turn_id ON calls (project_key, turn_id) WHERE turn_id IS NOT NULL;
