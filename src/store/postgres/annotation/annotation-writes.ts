/** The writes of annotation queues, each a transaction. */
import { randomUUID } from 'node:crypto'
import {
  type AnnotationItem,
  CLAIM_US,
  type QueuedCall,
  type ReachedState,
  requireStep,
} from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import { ApiError } from '../../../errors.ts'
import type {
  AnnotationStore,
  ItemStep,
  ItemsAdded,
  ItemsAddition,
  QueueName,
  QueueStats,
} from '../../api/annotation/annotation-queues.ts'
import { requireFewItems, requireRoomForQueue } from '../../base/annotation/annotation-limits.ts'
import * as QUEUES from '../../base/annotation/annotation-queues.sql.ts'
import type { Postgres, Statements } from '../db/client.ts'
import { toRows } from '../db/rows.sql.ts'
import * as SQL from './annotation-queues.sql.ts'

type KeyedQueue = AnnotationQueue & { readonly queue_key: number }
type KeyedItem = AnnotationItem & { readonly item_key: number }
type QueueWrites = Pick<AnnotationStore, 'createQueue' | 'changeQueue' | 'deleteQueue'>

export function createQueueWrites(db: Postgres): QueueWrites {
  return {
    createQueue: (queue) =>
      db.transaction(async (tx) => {
        const { project_id } = queue
        await tx.all(SQL.LOCK_PROJECT_QUEUES, { project_id })
        const counted = await tx.first<{ count: number }>(QUEUES.COUNT_QUEUES, { project_id })
        requireRoomForQueue(counted?.count ?? 0)
        await tx.run(SQL.INSERT_QUEUES, { rows: toRows([queue]) })
      }),
    changeQueue: (change) =>
      db.transaction(async (tx) => {
        const { queue_key: _before, ...queue } = await requireQueue(tx, change, SQL.LOCK_QUEUE)
        const { name, description, scorer_refs_json } = change
        if (name === null && description === null && scorer_refs_json === null) return queue
        await tx.run(QUEUES.UPDATE_QUEUE, { ...change })
        const { queue_key: _key, ...changed } = await requireQueue(tx, change, QUEUES.FIND_QUEUE)
        return changed
      }),
    deleteQueue: (deletion) =>
      db.transaction(async (tx) => {
        const { queue_key: _key, ...queue } = await requireQueue(tx, deletion, SQL.LOCK_QUEUE)
        await tx.run(QUEUES.DELETE_QUEUE, { ...deletion })
        const { deleted_at_us } = deletion
        return { ...queue, updated_at_us: deleted_at_us, deleted_at_us }
      }),
  }
}

/** @throws ApiError annotation_queue_not_found */
export async function requireQueue(
  db: Pick<Statements, 'first'>,
  { project_id, id }: QueueName,
  sql: string,
): Promise<KeyedQueue> {
  const queue = await db.first<KeyedQueue>(sql, { project_id, id })
  if (queue === undefined) throw new ApiError('annotation_queue_not_found', { param: 'queue_id' })
  return queue
}

/** @param calls - in the order in which they were named; null: unknown */
export function addItems(
  db: Postgres,
  addition: Omit<ItemsAddition, 'call_ids'>,
  calls: readonly (QueuedCall | null)[],
): Promise<ItemsAdded> {
  const { project_id, id, isStrict, display_fields_json, added_by, created_at_us } = addition
  return db.transaction(async (tx) => {
    const { queue_key } = await requireQueue(tx, { project_id, id }, SQL.LOCK_QUEUE)
    const unknown = calls.indexOf(null)
    if (isStrict && unknown !== -1) {
      throw new ApiError('call_not_found', { param: `call_ids[${unknown}]` })
    }
    const known = calls.filter((call) => call !== null)
    const rows = known.map((call) => ({
      ...call,
      id: randomUUID(),
      queue_key,
      display_fields_json,
      added_by,
      created_at_us,
      updated_at_us: created_at_us,
      annotation_state: 'unstarted',
      is_done: 0,
    }))
    const added_count = await tx.run(SQL.INSERT_ITEMS, { rows: toRows(rows) })
    const names = { project_id, queue_ids: [id] }
    const counted = await tx.first<QueueStats>(SQL.COUNT_ITEMS, names)
    requireFewItems(counted?.total_items ?? 0)
    return { added_count, duplicates: known.length - added_count }
  })
}

export function takeStep(db: Postgres, step: ItemStep): Promise<AnnotationItem> {
  return db.transaction(async (tx) => {
    const { queue_key } = await requireQueue(tx, step, QUEUES.FIND_QUEUE)
    const { item_key } = await requireItem(tx, queue_key, step)
    const { annotator_user_id, annotation_state, updated_at_us } = step
    const who = { item_key, annotator_user_id }
    const found = await tx.first<{ annotation_state: ReachedState }>(QUEUES.FIND_PROGRESS, who)
    const own = found?.annotation_state ?? null
    const since_us = updated_at_us - CLAIM_US
    const isHeld = (await tx.first(QUEUES.FIND_HOLDER, { ...who, since_us })) !== undefined
    requireStep(own, annotation_state, isHeld)
    // Finishing again changes nothing; claiming again renews the claim.
    if (own !== annotation_state || annotation_state === 'in_progress') {
      await tx.run(QUEUES.SET_PROGRESS, { ...who, annotation_state, updated_at_us })
      await tx.run(SQL.UPDATE_ITEM, { ...who, annotation_state, updated_at_us })
    }
    const { item_key: _key, ...item } = await requireItem(tx, queue_key, step)
    return item
  })
}

async function requireItem(
  tx: Statements,
  queue_key: number,
  { project_id, id, item_id }: ItemStep,
): Promise<KeyedItem> {
  const names = { project_id, queue_id: id, item_id, queue_key }
  const item = await tx.first<KeyedItem>(SQL.LOCK_ITEM, names)
  if (item === undefined) throw new ApiError('annotation_item_not_found', { param: 'item_id' })
  return item
}
