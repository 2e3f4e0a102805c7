/** Agents in ClickHouse: it delivers the spans of a scope in order of time; the domain computes the answers. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { AgentSpan } from '../../../domain/agents/agent-span.ts'
import { createSpanAttributes } from '../../../domain/agents/groups/span-attributes.ts'
import { createSpanStats } from '../../../domain/agents/groups/stats-rows.ts'
import { createMessageSearch } from '../../../domain/agents/message-search.ts'
import {
  createGroups,
  createSpanPicker,
  createSpanRows,
  type SpanSums,
} from '../../../domain/agents/span-answers.ts'
import type { SpanScope } from '../../../domain/agents/span-scope.ts'
import type { AgentStore, SpanList, SpanPage } from '../../api/agents/agents.ts'
import type { CallKey } from '../calls/calls-walk.ts'
import type { Reads } from '../db/reads.ts'
import { countSpans, selectCursorRow } from './agents.sql.ts'
import { boundsOf, readSpans, scanSpans } from './span-scan.ts'
import { listConversationSpans, readTurns } from './turns.ts'

const IN_ORDER = { direction: 'asc', withMessages: false } as const

export function createAgentStore(reads: Reads): AgentStore {
  async function sum<Answer>(
    sums: SpanSums<Answer>,
    scope: SpanScope,
    options: Parameters<typeof scanSpans>[2],
    caller: ReadCaller,
  ): Promise<Answer> {
    for await (const spans of scanSpans(reads, scope, options, caller)) spans.forEach(sums.add)
    return sums.answer()
  }

  return {
    listSpans: (list, caller) =>
      list.scope.expression === null && list.sort.length === 0
        ? listByTime(reads, list, caller)
        : listSorted(reads, list, caller),
    groupSpans(scope, grouping, caller) {
      const { withMessages } = grouping
      return sum(createGroups(grouping), scope, { direction: 'asc', withMessages }, caller)
    },
    measureSpans: (scope, plan, caller) => sum(createSpanStats(plan), scope, IN_ORDER, caller),
    listAttributes: (scope, page, caller) =>
      sum(createSpanAttributes(page), scope, IN_ORDER, caller),
    searchMessages(scope, search, caller) {
      const options = { direction: 'desc', withMessages: true } as const
      return sum(createMessageSearch(search), scope, options, caller)
    },
    readTurns: (query, caller) => readTurns(reads, query, caller),
    listConversationSpans: (query, caller) => listConversationSpans(reads, query, caller),
  }
}

/** Counts all spans, and reads only the page, from the microsecond on in which it begins. */
async function listByTime(
  reads: Reads,
  { scope, direction, offset, limit, shape, prices }: SpanList,
  caller: ReadCaller,
): Promise<SpanPage> {
  const { conditions, parameters } = boundsOf(scope)
  type Place = { readonly started_at_us: number }
  const places = selectCursorRow(conditions, direction)
  const [place] = await reads.read<Place>(places, { ...parameters, offset }, caller)
  const place_us = place?.started_at_us ?? 0
  type Count = { readonly total: number; readonly passed: number }
  const counting = countSpans(conditions, direction)
  const [count] = await reads.read<Count>(counting, { ...parameters, place_us }, caller)
  const page = createSpanRows(shape, prices)
  const total_count = count?.total ?? 0
  if (!place || limit === 0) return { spans: [], total_count }
  const { startedUs } = scope
  const rest =
    direction === 'asc' ? { ...startedUs, from: place_us } : { ...startedUs, to: place_us }
  const options = { direction, withMessages: shape.withDetails }
  let skipped = offset - (count?.passed ?? 0)
  for await (const spans of scanSpans(reads, { ...scope, startedUs: rest }, options, caller)) {
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
  const picked = createSpanPicker<CallKey>(list)
  const pick = (span: AgentSpan) => {
    const { started_at_us, id } = span.call
    picked.add({ started_at_us, id }, span)
  }
  for await (const spans of scanSpans(reads, scope, { direction, withMessages: false }, caller)) {
    spans.forEach(pick)
  }
  const page = createSpanRows(shape, prices)
  const { project_id } = scope
  for await (const spans of readSpans(
    reads,
    project_id,
    picked.keys(),
    shape.withDetails,
    caller,
  )) {
    spans.forEach(page.add)
  }
  return { spans: page.rows(), total_count: picked.count() }
}
