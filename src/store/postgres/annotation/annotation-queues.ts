/** Annotation queues in PostgreSQL; their items refer to calls of any store by id. */
import { randomUUID } from 'node:crypto'
import { SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import type { AnnotationItem } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationStore, QueueStats } from '../../api/annotation/annotation-queues.ts'
import type { CallsQueryStore } from '../../api/calls/calls.ts'
import { stamp } from '../../base/access/audit-store.ts'
import {
  createAnnotationWrites,
  findQueue,
  listItems,
  listQueues,
  NO_ITEMS,
} from '../../base/annotation/annotation-steps.ts'
import { createQueuedCalls } from '../../base/annotation/queued-calls.ts'
import { listRuled, listRuleTasks } from '../../base/annotation/rule-steps.ts'
import type { Steps } from '../../base/db/steps.ts'
import type { Postgres } from '../db/client.ts'
import { POSTGRES } from '../db/dialect.sql.ts'
import type { Reads } from '../db/reads.ts'
import { runSteps } from '../db/run-steps.ts'
import * as SQL from './annotation-queues.sql.ts'

const WRITES = createAnnotationWrites(randomUUID, POSTGRES)

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
    createQueue: (queue, by = SERVER_ORIGIN) =>
      db.transaction(async (tx) => {
        await tx.all(SQL.LOCK_PROJECT_QUEUES, { project_id: queue.project_id })
        await runSteps(tx, WRITES.create_annotation_queue({ ...queue, by: stamp(by) }))
      }),
    changeQueue: (change, by = SERVER_ORIGIN) =>
      db.transaction(async (tx) => {
        await tx.all(SQL.LOCK_PROJECT_QUEUES, { project_id: change.project_id })
        return runSteps(tx, WRITES.change_annotation_queue({ ...change, by: stamp(by) }))
      }),
    deleteQueue: (deletion) => write(() => WRITES.delete_annotation_queue(deletion)),
    findQueue: (name) => runSteps(db, findQueue(name)),
    listQueues: (caller) =>
      reads.run(caller, () => db.snapshot((tx) => runSteps(tx, listQueues(caller.project_id)))),
    async addItems({ calls: named, areSpans, ...addition }, caller) {
      const calls = await queuedCalls.find({ calls: named, areSpans }, caller)
      return write(() => WRITES.add_annotation_items({ ...addition, calls }))
    },
    async listItems(listing, caller) {
      const items = await reads.run(caller, () =>
        db.snapshot((tx) => runSteps(tx, listItems(POSTGRES, listing))),
      )
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
    listRuled: () => runSteps(db, listRuled()),
    listRuleTasks: (id, now_us) => runSteps(db, listRuleTasks(id, now_us)),
    settleRules: (outcome) => write(() => WRITES.settle_rules(outcome)),
  }
}
