/** Statements of annotation queues and their items. */

/** Serializes additions of queues to a project; the lock ends with the transaction. */
export const LOCK_PROJECT_QUEUES = `
SELECT pg_advisory_xact_lock(hashtextextended('queues ' || @project_id, 0))
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
