/** The read jobs of annotation queues. */

import type { AnnotationItem } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import { ITEMS_LIMIT_MAX } from '../../../schemas/limits.ts'
import type { ItemListing, QueueStats } from '../../api/annotation/annotation-queues.ts'
import { NO_ITEMS } from '../../base/annotation/annotation-limits.ts'
import * as BASE from '../../base/annotation/annotation-queues.sql.ts'
import type { ReadJob } from '../read/read-job.ts'
import * as SQL from './annotation-queues.sql.ts'
import { createQueueFinder } from './annotation-writes.ts'

export const listQueues: ReadJob<string, AnnotationQueue[]> = (db, project_id, checkpoint) => {
  const queues: AnnotationQueue[] = []
  for (const row of db.prepare(BASE.LIST_QUEUES).iterate({ project_id })) {
    checkpoint()
    queues.push(row as AnnotationQueue)
  }
  return queues
}

export const listItems: ReadJob<ItemListing, AnnotationItem[]> = (db, listing, checkpoint) => {
  const { project_id, queue_id, filter, sort_by, limit, offset, include_position } = listing
  const { queue_key } = createQueueFinder(db)({ project_id, id: queue_id })
  const order = (sort_by ?? []).map(
    ({ field, direction }) => `${BASE.ITEM_ORDERS[field]} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  )
  const states = filter?.annotation_states ?? []
  const parameters = {
    project_id,
    queue_id,
    queue_key,
    limit: limit ?? ITEMS_LIMIT_MAX,
    offset: offset ?? 0,
    id: filter?.id ?? null,
    call_id: filter?.call_id ?? null,
    call_op_name: filter?.call_op_name ?? null,
    call_trace_id: filter?.call_trace_id ?? null,
    added_by: filter?.added_by ?? null,
    annotation_states: states.length > 0 ? JSON.stringify(states) : null,
  }
  const items: AnnotationItem[] = []
  for (const row of db
    .prepare(SQL.listItems(order, include_position === true))
    .iterate(parameters)) {
    checkpoint()
    const { item_key: _key, ...item } = row as AnnotationItem & { item_key: number }
    items.push(item)
  }
  return items
}

interface QueuesSum {
  readonly project_id: string
  readonly queueIds: readonly string[]
}

export const sumQueues: ReadJob<QueuesSum, QueueStats[]> = function* (db, query, checkpoint) {
  const find = db.prepare(BASE.FIND_QUEUE)
  const count = db.prepare(SQL.COUNT_ITEMS)
  const sums: QueueStats[] = []
  for (const queue_id of query.queueIds) {
    const queue = find.get({ project_id: query.project_id, id: queue_id })
    const counted = queue === undefined ? NO_ITEMS : count.get(queue)
    sums.push({ queue_id, ...(counted as Omit<QueueStats, 'queue_id'>) })
    if (checkpoint()) yield
  }
  return sums
}
