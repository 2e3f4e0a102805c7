/**
 * Annotation queues in SQLite. Their items name calls by id, whichever store has those, and copy the fields for filters
 * and orders, which a call's start determines. Fields that may come later are read for the items that are shown.
 */
import { SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import type { AnnotationItem } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationStore } from '../../api/annotation/annotation-queues.ts'
import type { CallsQueryStore } from '../../api/calls/calls.ts'
import { stamp } from '../../base/access/audit-store.ts'
import { findQueue } from '../../base/annotation/annotation-steps.ts'
import { createQueuedCalls } from '../../base/annotation/queued-calls.ts'
import { listRuled, listRuleTasks } from '../../base/annotation/rule-steps.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { Writes } from '../write/writes.ts'

interface AnnotationParts {
  /** For reads on this thread. */
  readonly db: Connection
  readonly writes: Writes
  readonly reads: ReadPool
}

/** @param callsQuery - of the store that has the calls */
export function createAnnotationStore(
  { db, writes, reads }: AnnotationParts,
  callsQuery: Pick<CallsQueryStore, 'pages'>,
): AnnotationStore {
  const read = createStepReader(db)
  const queuedCalls = createQueuedCalls(callsQuery)

  return {
    createQueue: (queue, by = SERVER_ORIGIN) =>
      writes.run('create_annotation_queue', { ...queue, by: stamp(by) }),
    findQueue: (name) => read(findQueue(name)),
    listQueues: (caller) => reads.run('annotation_queues', caller.project_id, caller),
    changeQueue: (change, by = SERVER_ORIGIN) =>
      writes.run('change_annotation_queue', { ...change, by: stamp(by) }),
    deleteQueue: (deletion) => writes.run('delete_annotation_queue', deletion),
    async addItems({ calls: named, areSpans, ...addition }, caller) {
      const calls = await queuedCalls.find({ calls: named, areSpans }, caller)
      return writes.run('add_annotation_items', { ...addition, calls })
    },
    listItems: async (listing, caller) =>
      queuedCalls.addEnds(await reads.run('annotation_items', listing, caller), caller),
    sumQueues: (queueIds, caller) =>
      reads.run('annotation_sums', { project_id: caller.project_id, queueIds }, caller),
    async takeStep(step, caller) {
      const taken = await writes.run('take_annotation_step', step)
      const [item] = await queuedCalls.addEnds([taken], caller)
      return item as AnnotationItem
    },
    listRuled: () => read(listRuled()),
    listRuleTasks: (id, now_us) => read(listRuleTasks(id, now_us)),
    settleRules: (outcome) => writes.run('settle_rules', outcome),
  }
}
