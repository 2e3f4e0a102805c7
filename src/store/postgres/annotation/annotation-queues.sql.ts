/** Statements of annotation queues and their items. */
import {
  FIND_ITEM,
  FIND_QUEUE,
  NEW_ITEM_COLUMNS,
} from '../../base/annotation/annotation-queues.sql.ts'
import { insertRows } from '../db/rows.sql.ts'

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
export const INSERT_ITEMS = `${insertRows('annotation_items', NEW_ITEM_COLUMNS)}ON CONFLICT (queue_key, call_id) DO NOTHING
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
