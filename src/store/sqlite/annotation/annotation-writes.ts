/** The writes of annotation queues. */

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
  ItemStep,
  ItemsAdded,
  ItemsAddition,
  QueueChange,
  QueueDeletion,
  QueueName,
  QueueStats,
} from '../../api/annotation/annotation-queues.ts'
import { requireFewItems, requireRoomForQueue } from '../../base/annotation/annotation-limits.ts'
import * as BASE from '../../base/annotation/annotation-queues.sql.ts'
import type { Connection } from '../db/connection.ts'
import * as SQL from './annotation-queues.sql.ts'

/** Calls to add to a queue, in the given order; null: unknown. */
interface QueuedCalls extends Omit<ItemsAddition, 'call_ids'> {
  readonly calls: readonly (QueuedCall | null)[]
}

type KeyedQueue = AnnotationQueue & { readonly queue_key: number }
type KeyedItem = AnnotationItem & { readonly item_key: number }

export function createAnnotationWrites(db: Connection, newId: () => string) {
  const insertQueue = db.prepare(SQL.INSERT_QUEUE)
  const countQueues = db.prepare(BASE.COUNT_QUEUES).pluck()
  const updateQueue = db.prepare(BASE.UPDATE_QUEUE)
  const deleteQueue = db.prepare(BASE.DELETE_QUEUE)
  const requireQueue = createQueueFinder(db)
  return {
    create_annotation_queue(queue: AnnotationQueue): void {
      requireRoomForQueue(countQueues.get(queue) as number)
      insertQueue.run(SQL.QUEUE_ROW.map((column) => queue[column]))
    },
    change_annotation_queue(change: QueueChange): AnnotationQueue {
      const { queue_key: _before, ...queue } = requireQueue(change)
      const { name, description, scorer_refs_json } = change
      if (name === null && description === null && scorer_refs_json === null) return queue
      updateQueue.run(change)
      const { queue_key: _key, ...changed } = requireQueue(change)
      return changed
    },
    delete_annotation_queue(deletion: QueueDeletion): AnnotationQueue {
      const { queue_key: _key, ...queue } = requireQueue(deletion)
      deleteQueue.run(deletion)
      const { deleted_at_us } = deletion
      return { ...queue, updated_at_us: deleted_at_us, deleted_at_us }
    },
    ...createItemWrites(db, newId),
  }
}

function createItemWrites(db: Connection, newId: () => string) {
  const insertItem = db.prepare(SQL.INSERT_ITEM)
  const countItems = db.prepare(SQL.COUNT_ITEMS)
  const findItem = db.prepare(BASE.FIND_ITEM)
  const findProgress = db.prepare(BASE.FIND_PROGRESS).pluck()
  const findHolder = db.prepare(BASE.FIND_HOLDER).pluck()
  const setProgress = db.prepare(BASE.SET_PROGRESS)
  const updateItem = db.prepare(SQL.UPDATE_ITEM)
  const requireQueue = createQueueFinder(db)

  function requireItem(queue_key: number, { project_id, id, item_id }: ItemStep): KeyedItem {
    const names = { project_id, queue_id: id, item_id, queue_key }
    const item = findItem.get(names) as KeyedItem | undefined
    if (item === undefined) throw new ApiError('annotation_item_not_found', { param: 'item_id' })
    return item
  }

  return {
    /** Adds items; if it throws, all of them are undone. */
    add_annotation_items({ calls, isStrict, id, ...addition }: QueuedCalls): ItemsAdded {
      const { project_id, ...common } = addition
      const { queue_key } = requireQueue({ project_id, id })
      let [added_count, duplicates] = [0, 0]
      for (const [at, call] of calls.entries()) {
        if (call === null) {
          if (isStrict) throw new ApiError('call_not_found', { param: `call_ids[${at}]` })
          continue
        }
        const { changes } = insertItem.run({ ...common, ...call, id: newId(), queue_key })
        added_count += changes
        duplicates += 1 - changes
      }
      requireFewItems((countItems.get({ queue_key }) as QueueStats).total_items)
      return { added_count, duplicates }
    },
    take_annotation_step(step: ItemStep): AnnotationItem {
      const { queue_key } = requireQueue(step)
      const { item_key } = requireItem(queue_key, step)
      const { annotator_user_id, annotation_state, updated_at_us } = step
      const who = { item_key, annotator_user_id }
      const own = findProgress.get(who) as ReachedState | undefined
      const since_us = updated_at_us - CLAIM_US
      const isHeld = findHolder.get({ ...who, since_us }) !== undefined
      requireStep(own ?? null, annotation_state, isHeld)
      // Finishing again changes nothing; claiming again extends the claim.
      if (own !== annotation_state || annotation_state === 'in_progress') {
        setProgress.run({ ...who, annotation_state, updated_at_us })
        updateItem.run({ ...who, annotation_state, updated_at_us })
      }
      const { item_key: _key, ...item } = requireItem(queue_key, step)
      return item
    },
  }
}

/** @returns a function that finds a queue. @throws ApiError annotation_queue_not_found */
export function createQueueFinder(db: Connection): (name: QueueName) => KeyedQueue {
  const findQueue = db.prepare(BASE.FIND_QUEUE)
  return ({ project_id, id }) => {
    const queue = findQueue.get({ project_id, id }) as KeyedQueue | undefined
    if (queue === undefined) throw new ApiError('annotation_queue_not_found', { param: 'queue_id' })
    return queue
  }
}
