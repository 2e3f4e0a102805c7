/** The read jobs of annotation queues. */

import type { AnnotationItem } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import type { ItemListing, QueueStats } from '../../api/annotation/annotation-queues.ts'
import { parametersOfItems, selectItems } from '../../base/annotation/annotation-items.sql.ts'
import { NO_ITEMS } from '../../base/annotation/annotation-limits.ts'
import * as BASE from '../../base/annotation/annotation-queues.sql.ts'
import { requireQueue } from '../../base/annotation/annotation-writes.ts'
import { createStepRunner } from '../db/run-steps.ts'
import type { ReadJob } from '../read/read-job.ts'
import * as SQL from './annotation-queues.sql.ts'

export const listQueues: ReadJob<string, AnnotationQueue[]> = (db, project_id, checkpoint) => {
  const queues: AnnotationQueue[] = []
  for (const row of db.prepare(BASE.LIST_QUEUES).iterate({ project_id })) {
    checkpoint()
    queues.push(row as AnnotationQueue)
  }
  return queues
}

export const listItems: ReadJob<ItemListing, AnnotationItem[]> = (db, listing, checkpoint) => {
  const { project_id, queue_id: id } = listing
  const { queue_key } = createStepRunner(db)(requireQueue({ project_id, id }))
  const parameters = parametersOfItems(listing, queue_key)
  const states = parameters.annotation_states
  const items: AnnotationItem[] = []
  const matching = db.prepare(selectItems(listing, SQL.IS_IN_STATES))
  for (const row of matching.iterate({
    ...parameters,
    annotation_states: states && JSON.stringify(states),
  })) {
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
  const count = db.prepare(BASE.COUNT_ITEMS)
  const sums: QueueStats[] = []
  for (const queue_id of query.queueIds) {
    const queue = find.get({ project_id: query.project_id, id: queue_id })
    const counted = queue === undefined ? NO_ITEMS : count.get(queue)
    sums.push({ queue_id, ...(counted as Omit<QueueStats, 'queue_id'>) })
    if (checkpoint()) yield
  }
  return sums
}
