/** Statements of annotation queues and their items. */
import { idText, OP_NAME, PROJECT_KEY, packedId } from '../calls/columns/id-columns.sql.ts'
import { insertRow } from '../db/rows.sql.ts'

const QUEUE_COLUMNS = [
  'id',
  'project_id',
  'name',
  'description',
  'scorer_refs_json',
  'created_by',
  'created_at_us',
  'updated_at_us',
  'deleted_at_us',
] as const
export const QUEUE_ROW: readonly (typeof QUEUE_COLUMNS)[number][] = QUEUE_COLUMNS

export const INSERT_QUEUE = insertRow('annotation_queues', QUEUE_COLUMNS)

/** annotation_queues_project_id, as the next. */
export const COUNT_QUEUES = `
SELECT count(*)
FROM annotation_queues
WHERE project_id = @project_id AND deleted_at_us IS NULL
`

export const LIST_QUEUES = `
SELECT ${QUEUE_COLUMNS.join(', ')}
FROM annotation_queues
WHERE project_id = @project_id AND deleted_at_us IS NULL
ORDER BY queue_key
`

/** A queue that is not deleted (its unique id, as the next two). */
export const FIND_QUEUE = `
SELECT ${QUEUE_COLUMNS.join(', ')}, queue_key
FROM annotation_queues
WHERE id = @id AND project_id = @project_id AND deleted_at_us IS NULL
`

/** Null keeps what is there. */
export const UPDATE_QUEUE = `
UPDATE annotation_queues
SET
  name = coalesce(@name, name),
  description = coalesce(@description, description),
  scorer_refs_json = coalesce(@scorer_refs_json, scorer_refs_json),
  updated_at_us = @updated_at_us
WHERE id = @id AND project_id = @project_id AND deleted_at_us IS NULL
`

export const DELETE_QUEUE = `
UPDATE annotation_queues
SET deleted_at_us = @deleted_at_us, updated_at_us = @deleted_at_us
WHERE id = @id AND project_id = @project_id AND deleted_at_us IS NULL
`

/** The key of a call that has begun and is not deleted (calls_project_key_id). */
export const FIND_CALL_KEY = `
SELECT call_key
FROM calls
WHERE project_key = ${PROJECT_KEY}
  AND id = ${packedId('@call_id')}
  AND started_at_us IS NOT NULL
  AND deleted_at_us IS NULL
`

/** A call in a queue, unless it is in it (annotation_items_queue_key_call_key). */
export const INSERT_ITEM = `
INSERT INTO annotation_items (
  id,
  queue_key,
  call_key,
  display_fields_json,
  added_by,
  created_at_us,
  updated_at_us
)
VALUES (
  @id,
  @queue_key,
  @call_key,
  @display_fields_json,
  @added_by,
  @created_at_us,
  @created_at_us
)
ON CONFLICT (queue_key, call_key) DO NOTHING
`

/** How many items, and how many of them are done (annotation_items_queue_key_is_done alone). */
export const COUNT_ITEMS = `
SELECT
  count(*) AS total_items,
  coalesce(sum(is_done), 0) AS completed_items
FROM annotation_items
WHERE queue_key = @queue_key
`

const ITEM_COLUMNS = `
  annotation_items.item_key,
  annotation_items.id,
  @project_id AS project_id,
  annotation_queues.id AS queue_id,
  ${idText('calls.id')} AS call_id,
  calls.started_at_us AS call_started_at_us,
  calls.ended_at_us AS call_ended_at_us,
  ${OP_NAME} AS call_op_name,
  ${idText('calls.trace_id')} AS call_trace_id,
  annotation_items.display_fields_json,
  annotation_items.added_by,
  annotation_items.annotation_state,
  annotation_items.annotator_user_id,
  annotation_items.created_at_us,
  annotation_items.updated_at_us`.trimStart()

const ITEM_TABLES = `
FROM annotation_queues
CROSS JOIN annotation_items ON annotation_items.queue_key = annotation_queues.queue_key
CROSS JOIN calls ON calls.call_key = annotation_items.call_key`.trimStart()

/** An item of a queue by its unique id. */
export const FIND_ITEM = `
SELECT
  ${ITEM_COLUMNS},
  NULL AS position_in_queue
FROM annotation_items
CROSS JOIN annotation_queues ON annotation_queues.queue_key = annotation_items.queue_key
CROSS JOIN calls ON calls.call_key = annotation_items.call_key
WHERE annotation_items.id = @item_id AND annotation_items.queue_key = @queue_key
`

/** What items are sorted by, as text of a statement; nothing else may stand there. */
export const ITEM_ORDERS = {
  created_at: 'created_at_us',
  updated_at: 'updated_at_us',
  call_started_at: 'call_started_at_us',
  call_op_name: 'call_op_name',
} as const

/**
 * The items of a queue that match, with their places among all; null parameters do not filter
 * (annotation_items_queue_key_call_key, calls by primary key).
 *
 * @param order - entries of ITEM_ORDERS with a direction
 */
export function listItems(order: readonly string[]): string {
  const terms = [...order, 'item_key ASC'].join(', ')
  return `
SELECT *
FROM (
  SELECT
    *,
    row_number() OVER (ORDER BY ${terms}) AS position_in_queue
  FROM (
    SELECT
      ${ITEM_COLUMNS}
    ${ITEM_TABLES}
    WHERE annotation_queues.queue_key = @queue_key
  )
)
WHERE (@id IS NULL OR id = @id)
  AND (@call_id IS NULL OR call_id = @call_id)
  AND (@call_op_name IS NULL OR call_op_name = @call_op_name)
  AND (@call_trace_id IS NULL OR call_trace_id = @call_trace_id)
  AND (@added_by IS NULL OR added_by = @added_by)
  AND (
    @annotation_states IS NULL
    OR annotation_state IN (SELECT value FROM json_each(@annotation_states))
  )
ORDER BY position_in_queue
LIMIT @limit OFFSET @offset
`
}

/** Where an annotator is with an item; by primary key, as the next two. */
export const FIND_PROGRESS = `
SELECT annotation_state
FROM annotation_progress
WHERE item_key = @item_key AND annotator_user_id = @annotator_user_id
`

/** Whether another annotator has an item since a time. */
export const FIND_HOLDER = `
SELECT 1
FROM annotation_progress
WHERE item_key = @item_key
  AND annotator_user_id <> @annotator_user_id
  AND annotation_state = 'in_progress'
  AND updated_at_us > @since_us
LIMIT 1
`

export const SET_PROGRESS = `
INSERT INTO annotation_progress (item_key, annotator_user_id, annotation_state, updated_at_us)
VALUES (@item_key, @annotator_user_id, @annotation_state, @updated_at_us)
ON CONFLICT (item_key, annotator_user_id) DO UPDATE SET
  annotation_state = excluded.annotation_state,
  updated_at_us = excluded.updated_at_us
`

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
