/** The read jobs of annotation queues. */
import type { AnnotationItem } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import type { ItemListing, QueueStats } from '../../api/annotation/annotation-queues.ts'
import { COUNT_ITEMS, FIND_QUEUE } from '../../base/annotation/annotation-queues.sql.ts'
import * as BASE from '../../base/annotation/annotation-steps.ts'
import { SQLITE } from '../db/dialect.sql.ts'
import { createStepRunner } from '../db/run-steps.ts'
import type { ReadJob } from '../read/read-job.ts'

export const listQueues: ReadJob<string, AnnotationQueue[]> = (db, project_id) =>
  createStepRunner(db)(BASE.listQueues(project_id))

export const listItems: ReadJob<ItemListing, AnnotationItem[]> = (db, listing) =>
  createStepRunner(db)(BASE.listItems(SQLITE, listing))

interface QueuesSum {
  readonly project_id: string
  readonly queueIds: readonly string[]
}

export const sumQueues: ReadJob<QueuesSum, QueueStats[]> = function* (db, query, checkpoint) {
  const find = db.prepare(FIND_QUEUE)
  const count = db.prepare(COUNT_ITEMS)
  const sums: QueueStats[] = []
  for (const queue_id of query.queueIds) {
    const queue = find.get({ project_id: query.project_id, id: queue_id })
    const counted = queue === undefined ? BASE.NO_ITEMS : count.get(queue)
    sums.push({ queue_id, ...(counted as Omit<QueueStats, 'queue_id'>) })
    if (checkpoint()) yield
  }
  return sums
}
