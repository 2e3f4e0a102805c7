/** Statements for annotation queues and their items that only SQLite has. */
import { NEW_ITEM_COLUMNS } from '../../base/annotation/annotation-queues.sql.ts'
import { insertNamed } from '../../base/db/rows.sql.ts'

/** Adds a call to a queue unless it is in it (annotation_items_queue_key_call_id). */
export const INSERT_ITEM = `${insertNamed('annotation_items', NEW_ITEM_COLUMNS)}ON CONFLICT (queue_key, call_id) DO NOTHING
`
