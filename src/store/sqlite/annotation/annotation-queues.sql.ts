/** Statements for annotation queues and their items. */

import { QUEUE_COLUMNS } from '../../base/annotation/annotation-queues.sql.ts'
import { insertRow } from '../../base/db/rows.sql.ts'

export const QUEUE_ROW: readonly (typeof QUEUE_COLUMNS)[number][] = QUEUE_COLUMNS

export const INSERT_QUEUE = insertRow('annotation_queues', QUEUE_COLUMNS)

/** Adds a call to a queue unless it is in it (annotation_items_queue_key_call_id). */
export const INSERT_ITEM = `
INSERT INTO annotation_items (
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
  updated_at_us
)
VALUES (
  @id,
  @queue_key,
  @call_id,
  @call_trace_id,
  @call_op_name,
  @call_started_at_us,
  @call_ended_at_us,
  @display_fields_json,
  @added_by,
  @created_at_us,
  @created_at_us
)
ON CONFLICT (queue_key, call_id) DO NOTHING
`

/** The number of items, and of those that are done (covered by annotation_items_queue_key_is_done). */
export const COUNT_ITEMS = `
SELECT
  count(*) AS total_items,
  coalesce(sum(is_done), 0) AS completed_items
FROM annotation_items
WHERE queue_key = @queue_key
`

/** See selectItems. */
export const IS_IN_STATES = `(
    @annotation_states IS NULL
    OR annotation_state IN (SELECT value FROM json_each(@annotation_states))
  )`

/** By primary key. */
export const UPDATE_ITEM = `
UPDATE annotation_items
SET
  annotation_state = @annotation_state,
  annotator_user_id = @annotator_user_id,
  updated_at_us = @updated_at_us,
  is_done = max(is_done, @annotation_state IN ('completed', 'skipped'))
WHERE item_key = @item_key
`
