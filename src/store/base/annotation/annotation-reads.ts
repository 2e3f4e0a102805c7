/** Reads of annotation queues in SQLite and PostgreSQL alike. */
import type { AnnotationItem } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import type { ItemListing, QueueName } from '../../api/annotation/annotation-queues.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, first, type Steps } from '../db/steps.ts'
import { parametersOfItems, selectItems } from './annotation-items.sql.ts'
import { FIND_QUEUE, LIST_QUEUES } from './annotation-queues.sql.ts'
import { requireQueue } from './annotation-writes.ts'

/** See the contract. */
export function* findQueue({ project_id, id }: QueueName): Steps<AnnotationQueue | null> {
  type Keyed = AnnotationQueue & { readonly queue_key: number }
  const row = yield* first<Keyed>(FIND_QUEUE, { project_id, id })
  if (row === undefined) return null
  const { queue_key: _key, ...queue } = row
  return queue
}

/** Returns the queues of a project. */
export function listQueues(project_id: string): Steps<AnnotationQueue[]> {
  return all(LIST_QUEUES, { project_id })
}

/** Returns the items of a listing as they were stored. */
export function* listItems(dialect: Dialect, listing: ItemListing): Steps<AnnotationItem[]> {
  const { project_id, queue_id: id } = listing
  const { queue_key, queue_type } = yield* requireQueue({ project_id, id })
  type Keyed = AnnotationItem & { readonly item_key: number }
  const sql = selectItems(listing, dialect)
  const rows = yield* all<Keyed>(sql, parametersOfItems(listing, queue_key))
  return rows.map(({ item_key: _key, ...item }) => ({ ...item, queue_type }))
}
