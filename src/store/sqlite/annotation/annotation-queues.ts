/** Annotation queues in SQLite. Their items name calls by key, so that they show how a call is now. */
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import type { AnnotationStore } from '../../api/annotation/annotation-queues.ts'
import type { Connection } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { Arrivals } from '../recordings/arrivals.ts'
import type { Writes } from '../write/writes.ts'
import { FIND_QUEUE } from './annotation-queues.sql.ts'

interface AnnotationParts {
  /** For what is read here. */
  readonly db: Connection
  readonly writes: Writes
  readonly reads: ReadPool
  /** Recorded calls that are on their way. */
  readonly arrivals: Arrivals
}

export function createAnnotationStore(parts: AnnotationParts): AnnotationStore {
  const { db, writes, reads, arrivals } = parts
  const findQueue = db.prepare(FIND_QUEUE)
  return {
    createQueue: (queue) => writes.run('create_annotation_queue', queue),
    async findQueue({ project_id, id }) {
      try {
        const row = findQueue.get({ project_id, id })
        if (row === undefined) return null
        const { queue_key: _key, ...queue } = row as AnnotationQueue & { queue_key: number }
        return queue
      } catch (error) {
        throw toStoreError(error)
      }
    },
    listQueues: (caller) => reads.run('annotation_queues', caller.project_id, caller),
    changeQueue: (change) => writes.run('change_annotation_queue', change),
    deleteQueue: (deletion) => writes.run('delete_annotation_queue', deletion),
    async addItems(addition) {
      await arrivals.wait(addition.project_id, addition.call_ids)
      return writes.run('add_annotation_items', addition)
    },
    listItems: (listing, caller) => reads.run('annotation_items', listing, caller),
    sumQueues: (queueIds, caller) =>
      reads.run('annotation_sums', { project_id: caller.project_id, queueIds }, caller),
    takeStep: (step) => writes.run('take_annotation_step', step),
  }
}
