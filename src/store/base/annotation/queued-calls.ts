/** Looks up the calls of annotation queues in the store that has the calls. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import {
  type AnnotationItem,
  type NamedCalls,
  type QueuedCall,
  toQueuedCall,
} from '../../../domain/annotation/annotation-item.ts'
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import { resolveCallsSelection } from '../../../domain/calls/calls-query.ts'
import type { CallsQueryStore } from '../../api/calls/calls.ts'

interface QueuedCalls {
  /** Returns the named calls in order; null for a call without a start, a deleted one, and another than is named. */
  find(named: Omit<NamedCalls, 'param'>, caller: ReadCaller): Promise<(QueuedCall | null)[]>
  /** Adds the ends of calls that came after their items were added. */
  addEnds(items: readonly AnnotationItem[], caller: ReadCaller): Promise<AnnotationItem[]>
}

/** @param callsQuery - of the store that has the calls */
export function createQueuedCalls(callsQuery: Pick<CallsQueryStore, 'pages'>): QueuedCalls {
  async function findCalls(
    call_ids: readonly string[],
    caller: ReadCaller,
    isWanted: (call: CallTexts) => boolean = () => true,
    shape = NO_BODIES,
  ) {
    const found = new Map<string, QueuedCall>()
    if (call_ids.length === 0) return found
    const filter = { call_ids: [...new Set(call_ids)] }
    const selection = resolveCallsSelection({ project_id: caller.project_id, filter })
    for await (const calls of callsQuery.pages(selection, shape, caller)) {
      for (const { call } of calls) if (isWanted(call)) found.set(call.id, toQueuedCall(call))
    }
    return found
  }

  return {
    async find({ calls, areSpans }, caller) {
      const ids = calls.map(({ call_id }) => call_id)
      const found = areSpans
        ? await findCalls(ids, caller, ({ otel_dump_json }) => otel_dump_json !== null, WITH_DUMPS)
        : await findCalls(ids, caller)
      return calls.map(({ call_id, trace_id }) => {
        const call = found.get(call_id)
        return call && (trace_id === null || trace_id === call.call_trace_id) ? call : null
      })
    },
    async addEnds(items, caller) {
      const open = items.filter(({ call_ended_at_us }) => call_ended_at_us === null)
      const ids = open.map(({ call_id }) => call_id)
      const calls = await findCalls(ids, caller)
      return items.map((item) => ({ ...item, ...calls.get(item.call_id) }))
    },
  }
}

const NO_BODIES = {
  columns: new Set(['ended_at']),
  previewed: null,
  withCosts: false,
  withFeedback: false,
  withTreeUsage: false,
  withExpandedValues: false,
  withStorageSize: false,
  withTotalStorageSize: false,
}

/** The columns that identify a span. */
const WITH_DUMPS = { ...NO_BODIES, columns: new Set(['ended_at', 'attributes']) }
