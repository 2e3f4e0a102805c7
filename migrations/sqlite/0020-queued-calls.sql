-- Items of annotation queues name calls by their ids, so that the calls may lie in another store, and hold what they are
-- filtered and sorted by. Nothing of that changes after the start of a call; an end that has not come is looked up.
CREATE TABLE named_annotation_items (
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

INSERT INTO named_annotation_items (
  item_key,
  id,
  queue_key,
  call_id,
  call_trace_id,
  call_op_name,
  call_started_at_us,
  call_ended_at_us,
  display_fields_json,
  added_by,
  created_at_us,
  updated_at_us,
  annotation_state,
  annotator_user_id,
  is_done
)
SELECT
  annotation_items.item_key,
  annotation_items.id,
  annotation_items.queue_key,
  CASE
    WHEN typeof(calls.id) <> 'blob' THEN calls.id
    WHEN length(calls.id) = 16 THEN
      lower(hex(substr(calls.id, 1, 4))) || '-' || lower(hex(substr(calls.id, 5, 2))) || '-'
      || lower(hex(substr(calls.id, 7, 2))) || '-' || lower(hex(substr(calls.id, 9, 2))) || '-'
      || lower(hex(substr(calls.id, 11, 6)))
    WHEN length(calls.id) = 8 THEN lower(hex(calls.id))
    ELSE substr(lower(hex(calls.id)), 3)
  END,
  CASE
    WHEN typeof(calls.trace_id) <> 'blob' THEN calls.trace_id
    WHEN length(calls.trace_id) = 16 THEN
      lower(hex(substr(calls.trace_id, 1, 4))) || '-' || lower(hex(substr(calls.trace_id, 5, 2))) || '-'
      || lower(hex(substr(calls.trace_id, 7, 2))) || '-' || lower(hex(substr(calls.trace_id, 9, 2))) || '-'
      || lower(hex(substr(calls.trace_id, 11, 6)))
    WHEN length(calls.trace_id) = 8 THEN lower(hex(calls.trace_id))
    ELSE substr(lower(hex(calls.trace_id)), 3)
  END,
  ops.op_name,
  calls.started_at_us,
  calls.ended_at_us,
  annotation_items.display_fields_json,
  annotation_items.added_by,
  annotation_items.created_at_us,
  annotation_items.updated_at_us,
  annotation_items.annotation_state,
  annotation_items.annotator_user_id,
  annotation_items.is_done
FROM annotation_items
INNER JOIN calls ON calls.call_key = annotation_items.call_key
INNER JOIN ops ON ops.op_key = calls.op_key
ORDER BY annotation_items.item_key;

DROP TABLE annotation_items;
ALTER TABLE named_annotation_items RENAME TO annotation_items;

CREATE UNIQUE INDEX annotation_items_queue_key_call_id ON annotation_items (queue_key, call_id);
CREATE INDEX annotation_items_queue_key_is_done ON annotation_items (queue_key, is_done);
