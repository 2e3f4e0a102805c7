CREATE TABLE annotation_queues (
  queue_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  project_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  scorer_refs_json text NOT NULL,
  created_by text NOT NULL,
  created_at_us bigint NOT NULL,
  updated_at_us bigint NOT NULL,
  deleted_at_us bigint
);

CREATE INDEX annotation_queues_project_id ON annotation_queues (project_id) WHERE deleted_at_us IS NULL;

-- Items name calls by their ids, wherever those are, and hold what they are filtered and sorted by. Nothing of that changes
-- after the start of a call; an end that has not come is looked up.
CREATE TABLE annotation_items (
  item_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  queue_key bigint NOT NULL REFERENCES annotation_queues (queue_key),
  call_id text COLLATE "C" NOT NULL,
  call_trace_id text COLLATE "C" NOT NULL,
  call_op_name text COLLATE "C" NOT NULL,
  call_started_at_us bigint NOT NULL,
  call_ended_at_us bigint,
  display_fields_json text NOT NULL,
  added_by text NOT NULL,
  created_at_us bigint NOT NULL,
  updated_at_us bigint NOT NULL,
  -- State, annotator and time are those of the annotator who was heard of last.
  annotation_state text NOT NULL DEFAULT 'unstarted'
  CHECK (annotation_state IN ('unstarted', 'in_progress', 'completed', 'skipped')),
  annotator_user_id text,
  -- 1 when any annotator has completed or skipped it.
  is_done integer NOT NULL DEFAULT 0 CHECK (is_done IN (0, 1)),
  UNIQUE (queue_key, call_id)
);

CREATE INDEX annotation_items_queue_key_is_done ON annotation_items (queue_key, is_done);

CREATE TABLE annotation_progress (
  item_key bigint NOT NULL REFERENCES annotation_items (item_key),
  annotator_user_id text COLLATE "C" NOT NULL,
  annotation_state text NOT NULL CHECK (annotation_state IN ('in_progress', 'completed', 'skipped')),
  updated_at_us bigint NOT NULL,
  PRIMARY KEY (item_key, annotator_user_id)
);
