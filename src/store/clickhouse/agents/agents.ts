/** Agents in ClickHouse: it delivers the spans of a scope in order of time; the domain computes the results. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { AgentSpan } from '../../../domain/agents/agent-span.ts'
import { createSpanRows, type SpanList, type SpanPage } from '../../../domain/agents/span-list.ts'
import {
  SPAN_READS,
  type SpanRead,
  type SpanReadInput,
  type SpanReadResult,
} from '../../../domain/agents/span-reads.ts'
import type { SpanSteps, TraceWalk } from '../../../domain/agents/span-scope.ts'
import { spanField } from '../../../domain/agents/span-values.ts'
import { namesInherited } from '../../../domain/agents/trace-identity.ts'
import { TRACES_MAX } from '../../../domain/agents/turns.ts'
import { createKeyPicker } from '../../../domain/query/row-query.ts'
import type { AgentStore } from '../../api/agents/agents.ts'
import type { CallKey } from '../calls/query/calls-walk.ts'
import type { Reads } from '../db/reads.ts'
import { countSpans, SELECT_CONVERSATION_TRACES, selectCursorRow } from './agents.sql.ts'
import { boundsOf, readSpans, scanSpans } from './span-scan.ts'

export function createAgentStore(reads: Reads): AgentStore {
  return {
    listSpans: (list, caller) =>
      list.scope.expression === null && list.sort.length === 0
        ? listByTime(reads, list, caller)
        : listSorted(reads, list, caller),
    async read<Name extends SpanRead>(name: Name, input: SpanReadInput<Name>, caller: ReadCaller) {
      const steps = (SPAN_READS[name] as (input: unknown) => SpanSteps<SpanReadResult<Name>>)(input)
      let step = steps.next()
      for (; !step.done; step = steps.next()) {
        const walk = step.value
        if ('scope' in walk) {
          for await (const spans of scanSpans(reads, walk, caller)) {
            for (const span of spans) walk.take(span)
          }
        } else await findTraces(reads, walk, caller)
      }
      return step.value
    },
  }
}

async function findTraces(
  reads: Reads,
  { project_id, conversation_id, take }: TraceWalk,
  caller: ReadCaller,
): Promise<void> {
  const parameters = { project_id, thread_ids: [conversation_id], limit: TRACES_MAX + 1 }
  type Trace = { readonly trace_id: string; readonly started_at_us: number }
  const found = reads.stream<Trace>(SELECT_CONVERSATION_TRACES, parameters, caller)
  for await (const rows of found) {
    for (const { trace_id, started_at_us } of rows) take(trace_id, started_at_us)
  }
}

/** Counts all spans, and reads only the page, from the microsecond on in which it begins. */
async function listByTime(
  reads: Reads,
  { scope, direction, offset, limit, shape, prices }: SpanList,
  caller: ReadCaller,
): Promise<SpanPage> {
  const { conditions, parameters } = boundsOf(scope)
  type Cursor = { readonly started_at_us: number }
  const cursorRow = selectCursorRow(conditions, direction)
  const [cursor] = await reads.read<Cursor>(cursorRow, { ...parameters, offset }, caller)
  const cursor_us = cursor?.started_at_us ?? 0
  type Count = { readonly total: number; readonly passed: number }
  const counting = countSpans(conditions, direction)
  const [count] = await reads.read<Count>(counting, { ...parameters, cursor_us }, caller)
  const page = createSpanRows(shape, prices)
  const total_count = count?.total ?? 0
  if (!cursor || limit === 0) return { spans: [], total_count }
  const { startedUs } = scope
  const rest =
    direction === 'asc' ? { ...startedUs, from: cursor_us } : { ...startedUs, to: cursor_us }
  const walk = {
    scope: { ...scope, startedUs: rest },
    direction,
    withMessages: shape.withDetails,
    withInherited: true,
  }
  let skipped = offset - (count?.passed ?? 0)
  for await (const spans of scanSpans(reads, walk, caller)) {
    const left = limit - page.rows().length
    spans.slice(Math.max(0, skipped), Math.max(0, skipped) + left).forEach(page.add)
    skipped -= spans.length
    if (page.rows().length >= limit) break
  }
  return { spans: page.rows(), total_count }
}

/** Reads all spans. */
async function listSorted(reads: Reads, list: SpanList, caller: ReadCaller): Promise<SpanPage> {
  const { scope, direction, shape, prices } = list
  const picked = createKeyPicker<CallKey, AgentSpan>(list, spanField)
  const withInherited = namesInherited([scope.expression, list.sort])
  const walk = { scope, direction, withMessages: false, withInherited }
  for await (const spans of scanSpans(reads, walk, caller)) {
    for (const span of spans) {
      const { started_at_us, id } = span.call
      picked.add({ started_at_us, id }, span)
    }
  }
  const page = createSpanRows(shape, prices)
  const found = readSpans(reads, scope.project_id, picked.keys(), shape.withDetails, caller)
  for await (const spans of found) spans.forEach(page.add)
  return { spans: page.rows(), total_count: picked.count() }
}
