/** Annotation queues in PostgreSQL; their items refer to calls of any store by id. */
import { randomUUID } from 'node:crypto'
import type { AnnotationItem } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import type {
  AnnotationStore,
  ItemListing,
  QueueStats,
} from '../../api/annotation/annotation-queues.ts'
import type { CallsQueryStore } from '../../api/calls/calls-query.ts'
import { parametersOfItems, selectItems } from '../../base/annotation/annotation-items.sql.ts'
import { NO_ITEMS } from '../../base/annotation/annotation-limits.ts'
import * as QUEUES from '../../base/annotation/annotation-queues.sql.ts'
import { createAnnotationWrites, requireQueue } from '../../base/annotation/annotation-writes.ts'
import { createQueuedCalls } from '../../base/annotation/queued-calls.ts'
import { run, type Steps } from '../../base/db/steps.ts'
import type { Postgres } from '../db/client.ts'
import type { Reads } from '../db/reads.ts'
import { toRows } from '../db/rows.sql.ts'
import { runSteps } from '../db/run-steps.ts'
import * as SQL from './annotation-queues.sql.ts'

const WRITES = createAnnotationWrites(randomUUID, {
  LOCK_QUEUE: SQL.LOCK_QUEUE,
  LOCK_ITEM: SQL.LOCK_ITEM,
  insertItems: (items) => run(SQL.INSERT_ITEMS, { rows: toRows(items) }),
})

interface AnnotationParts {
  readonly db: Postgres
  readonly reads: Reads
}

/** @param callsQuery - the store of the calls */
export function createAnnotationStore(
  { db, reads }: AnnotationParts,
  callsQuery: Pick<CallsQueryStore, 'pages'>,
): AnnotationStore {
  const queuedCalls = createQueuedCalls(callsQuery)
  const write = <T>(steps: () => Steps<T>) => db.transaction((tx) => runSteps(tx, steps()))

  return {
    createQueue: (queue) =>
      db.transaction(async (tx) => {
        await tx.all(SQL.LOCK_PROJECT_QUEUES, { project_id: queue.project_id })
        await runSteps(tx, WRITES.create_annotation_queue(queue))
      }),
    changeQueue: (change) => write(() => WRITES.change_annotation_queue(change)),
    deleteQueue: (deletion) => write(() => WRITES.delete_annotation_queue(deletion)),
    async findQueue({ project_id, id }) {
      type Keyed = AnnotationQueue & { queue_key: number }
      const row = await db.first<Keyed>(QUEUES.FIND_QUEUE, { project_id, id })
      if (row === undefined) return null
      const { queue_key: _key, ...queue } = row
      return queue
    },
    listQueues: (caller) =>
      reads.run(caller, () => {
        const { project_id } = caller
        return db.snapshot((tx) => tx.all<AnnotationQueue>(QUEUES.LIST_QUEUES, { project_id }))
      }),
    async addItems({ call_ids, ...addition }, caller) {
      const calls = await queuedCalls.find(call_ids, caller)
      return write(() => WRITES.add_annotation_items({ ...addition, calls }))
    },
    async listItems(listing, caller) {
      const items = await reads.run(caller, () => listItems(db, listing))
      return queuedCalls.addEnds(items, caller)
    },
    async sumQueues(queueIds, caller) {
      const parameters = { project_id: caller.project_id, queue_ids: queueIds }
      const sums = await reads.run(caller, () =>
        db.snapshot((tx) => tx.all<QueueStats>(SQL.COUNT_ITEMS, parameters)),
      )
      const sumOf = new Map(sums.map((sum) => [sum.queue_id, sum]))
      return queueIds.map((queue_id) => sumOf.get(queue_id) ?? { queue_id, ...NO_ITEMS })
    },
    async takeStep(step, caller) {
      const taken = await write(() => WRITES.take_annotation_step(step))
      const [item] = await queuedCalls.addEnds([taken], caller)
      return item as AnnotationItem
    },
  }
}

function listItems(db: Postgres, listing: ItemListing): Promise<AnnotationItem[]> {
  const { project_id, queue_id: id } = listing
  return db.snapshot(async (tx) => {
    const { queue_key } = await runSteps(tx, requireQueue({ project_id, id }))
    type Keyed = AnnotationItem & { item_key: number }
    const rows = await tx.all<Keyed>(
      selectItems(listing, SQL.IS_IN_STATES),
      parametersOfItems(listing, queue_key),
    )
    return rows.map(({ item_key: _key, ...item }) => item)
  })
}
