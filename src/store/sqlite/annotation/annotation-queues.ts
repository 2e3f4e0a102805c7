/**
 * Annotation queues in SQLite. Their items name calls by id, wherever those are, and hold what a call is found and sorted
 * by, which its start settles; what may come later is looked up for the items that are shown.
 */
import type { AnnotationItem, QueuedCall } from '../../../domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../../domain/annotation/annotation-queue.ts'
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import { resolveCallsSelection } from '../../../domain/calls/calls-query.ts'
import type { AnnotationStore } from '../../api/annotation/annotation-queues.ts'
import type { CallsQueryStore } from '../../api/calls/calls-query.ts'
import type { ReadCaller } from '../../api/read-caller.ts'
import type { Connection } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { Writes } from '../write/writes.ts'
import { FIND_QUEUE } from './annotation-queues.sql.ts'

interface AnnotationParts {
  /** For what is read here. */
  readonly db: Connection
  readonly writes: Writes
  readonly reads: ReadPool
}

/** @param callsQuery - where the calls are */
export function createAnnotationStore(
  { db, writes, reads }: AnnotationParts,
  callsQuery: Pick<CallsQueryStore, 'pages'>,
): AnnotationStore {
  const findQueue = db.prepare(FIND_QUEUE)

  /** Those of calls that have begun and are not deleted, by id. */
  async function findCalls(project_id: string, call_ids: readonly string[], caller: ReadCaller) {
    const found = new Map<string, QueuedCall>()
    if (call_ids.length === 0) return found
    const filter = { call_ids: [...new Set(call_ids)] }
    const selection = resolveCallsSelection({ project_id, filter })
    for await (const calls of callsQuery.pages(selection, NO_BODIES, caller)) {
      for (const { call } of calls) found.set(call.id, toQueuedCall(call))
    }
    return found
  }

  async function addEnds(
    items: readonly AnnotationItem[],
    caller: ReadCaller,
  ): Promise<AnnotationItem[]> {
    const open = items.filter(({ call_ended_at_us }) => call_ended_at_us === null)
    const ids = open.map(({ call_id }) => call_id)
    const calls = await findCalls(caller.project_id, ids, caller)
    return items.map((item) => ({ ...item, ...calls.get(item.call_id) }))
  }

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
    async addItems({ call_ids, ...addition }, caller) {
      const found = await findCalls(addition.project_id, call_ids, caller)
      const calls = call_ids.map((id) => found.get(id) ?? null)
      return writes.run('add_annotation_items', { ...addition, calls })
    },
    listItems: async (listing, caller) =>
      addEnds(await reads.run('annotation_items', listing, caller), caller),
    sumQueues: (queueIds, caller) =>
      reads.run('annotation_sums', { project_id: caller.project_id, queueIds }, caller),
    async takeStep(step, caller) {
      const [item] = await addEnds([await writes.run('take_annotation_step', step)], caller)
      return item as AnnotationItem
    },
  }
}

const NO_BODIES = {
  columns: new Set(['ended_at']),
  ...{ withCosts: false, withFeedback: false, withExpandedValues: false },
  ...{ withStorageSize: false, withTotalStorageSize: false },
}

function toQueuedCall({
  id,
  started_at_us,
  ended_at_us,
  op_name,
  trace_id,
}: CallTexts): QueuedCall {
  return {
    ...{ call_id: id, call_started_at_us: started_at_us, call_ended_at_us: ended_at_us },
    ...{ call_op_name: op_name, call_trace_id: trace_id },
  }
}
