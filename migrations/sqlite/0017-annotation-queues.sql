-- Queues of calls that wait for people's judgement.
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
) STRICT;

CREATE INDEX annotation_queues_project_id ON annotation_queues (project_id) WHERE deleted_at_us IS NULL;

-- A call in a queue, once. State, annotator and time are those of the annotator who was heard of last.
CREATE TABLE annotation_items (
  item_key INTEGER NOT NULL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  queue_key INTEGER NOT NULL REFERENCES annotation_queues (queue_key),
  call_key INTEGER NOT NULL REFERENCES calls (call_key),
  display_fields_json TEXT NOT NULL,
  added_by TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  annotation_state TEXT NOT NULL DEFAULT 'unstarted'
  CHECK (annotation_state IN ('unstarted', 'in_progress', 'completed', 'skipped')),
  annotator_user_id TEXT,
  -- 1 when any annotator has completed or skipped it.
  is_done INTEGER NOT NULL DEFAULT 0 CHECK (is_done IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX annotation_items_queue_key_call_key ON annotation_items (queue_key, call_key);
CREATE INDEX annotation_items_queue_key_is_done ON annotation_items (queue_key, is_done);

-- How far each annotator is with an item.
CREATE TABLE annotation_progress (
  item_key INTEGER NOT NULL REFERENCES annotation_items (item_key),
  annotator_user_id TEXT NOT NULL,
  annotation_state TEXT NOT NULL CHECK (annotation_state IN ('in_progress', 'completed', 'skipped')),
  updated_at_us INTEGER NOT NULL,
  PRIMARY KEY (item_key, annotator_user_id)
) STRICT, WITHOUT ROWID;
