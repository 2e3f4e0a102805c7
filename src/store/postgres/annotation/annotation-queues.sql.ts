/** Statements of annotation queues and their items. */
import {
  FIND_ITEM,
  FIND_QUEUE,
  ITEM_COLUMNS,
  ITEM_ORDERS,
  QUEUE_COLUMNS,
} from '../../base/annotation/annotation-queues.sql.ts'
import { insertRows } from '../db/rows.sql.ts'

export const INSERT_QUEUES = insertRows('annotation_queues', QUEUE_COLUMNS)

/** Serializes additions of queues to a project; the lock ends with the transaction. */
export const LOCK_PROJECT_QUEUES = `
SELECT pg_advisory_xact_lock(hashtextextended('queues ' || @project_id, 0))
`

/** Locks a queue for changes to it or its items, until the end of the transaction. */
export const LOCK_QUEUE = `${FIND_QUEUE}FOR UPDATE
`

/** Locks an item for a step, until the end of the transaction. */
export const LOCK_ITEM = `${FIND_ITEM}FOR UPDATE
`

/** Adds calls to a queue, except those that are in it (annotation_items_queue_key_call_id_key). */
export const INSERT_ITEMS = `${insertRows('annotation_items', [
  'id',
  'queue_key',
  'call_id',
  'call_trace_id',
  'call_op_name',
  'call_started_at_us',
  'call_ended_at_us',
  'display_fields_json',
  'added_by',
  'created_at_us',
  'updated_at_us',
  'annotation_state',
  'is_done',
])}ON CONFLICT (queue_key, call_id) DO NOTHING
`

/** Numbers of items and of done items of each queue (covered by annotation_items_queue_key_is_done). */
export const COUNT_ITEMS = `
SELECT
  annotation_queues.id AS queue_id,
  count(annotation_items.item_key) AS total_items,
  coalesce(sum(annotation_items.is_done), 0)::bigint AS completed_items
FROM annotation_queues
LEFT JOIN annotation_items ON annotation_items.queue_key = annotation_queues.queue_key
WHERE annotation_queues.id = ANY (@queue_ids::text[])
  AND annotation_queues.project_id = @project_id
  AND annotation_queues.deleted_at_us IS NULL
GROUP BY annotation_queues.id
`

/**
 * The items of a queue that match; null parameters do not filter (annotation_items_queue_key_item_key, which has their
 * order where nothing else is asked for).
 *
 * @param withPosition - whether to return positions in the queue, for which all items are sorted
 */
export function listItems(
  sort: readonly { readonly field: keyof typeof ITEM_ORDERS; readonly direction: 'asc' | 'desc' }[],
  withPosition: boolean,
): string {
  const order = sort.map(
    ({ field, direction }) => `${ITEM_ORDERS[field]} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  )
  const terms = [...order, 'item_key ASC'].join(', ')
  return `
SELECT *
FROM (
  SELECT
    ${ITEM_COLUMNS},
    ${withPosition ? `row_number() OVER (ORDER BY ${terms})` : 'NULL'} AS position_in_queue
  FROM annotation_items
  WHERE queue_key = @queue_key
) AS items
WHERE (@id::text IS NULL OR id = @id::text)
  AND (@call_id::text IS NULL OR call_id = @call_id::text)
  AND (@call_op_name::text IS NULL OR call_op_name = @call_op_name::text)
  AND (@call_trace_id::text IS NULL OR call_trace_id = @call_trace_id::text)
  AND (@added_by::text IS NULL OR added_by = @added_by::text)
  AND (@annotation_states::text[] IS NULL OR annotation_state = ANY (@annotation_states::text[]))
ORDER BY ${withPosition ? 'position_in_queue' : terms}
LIMIT @limit OFFSET @offset
`
}

/** By primary key. */
export const UPDATE_ITEM = `
UPDATE annotation_items
SET
  annotation_state = @annotation_state::text,
  annotator_user_id = @annotator_user_id,
  updated_at_us = @updated_at_us,
  is_done = greatest(is_done, (@annotation_state::text IN ('completed', 'skipped'))::integer)
WHERE item_key = @item_key
`
