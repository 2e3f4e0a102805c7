/** The read jobs behind lists, groups, statistics and searches of spans. */

import { createAgentGroups } from '../../../domain/agents/agent-groups.ts'
import type { AgentSpan } from '../../../domain/agents/agent-span.ts'
import { createMessageSearch, type MessageSearch } from '../../../domain/agents/message-search.ts'
import {
  type AttributesPage,
  createSpanAttributes,
} from '../../../domain/agents/span-attributes.ts'
import { costsOf } from '../../../domain/agents/span-costs.ts'
import {
  createSpanGroups,
  type GroupPage,
  type SpanGrouping,
} from '../../../domain/agents/span-groups.ts'
import { renderSpanRow } from '../../../domain/agents/span-row.ts'
import { createScopeMatcher, type SpanScope } from '../../../domain/agents/span-scope.ts'
import { createSpanStats, type SpanStatsPlan } from '../../../domain/agents/span-stats.ts'
import { spanField } from '../../../domain/agents/span-values.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { createRowSelection, type RowQuery } from '../../../domain/query/row-query.ts'
import { ApiError } from '../../../errors.ts'
import type { AgentSearchResponse } from '../../../schemas/agents/agent-search.ts'
import type { AgentSpanRow } from '../../../schemas/agents/agent-spans.ts'
import type {
  AgentSpanStatsResponse,
  SpanAttributesResponse,
} from '../../../schemas/agents/agent-stats.ts'
import type { SpanList, SpanPage } from '../../api/agents/agents.ts'
import type { FoundKey } from '../calls/calls-walk.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import {
  createSpanReader,
  keyOfSpan,
  type ScanOptions,
  scanSpans,
  walkSpanKeys,
} from './span-scan.ts'

/** Limit: characters of spans in one answer. */
const ANSWER_CHARS_MAX = 16 * 1024 * 1024

/** A span that may be on the page; what was read of it is let go when it was looked at. */
interface Candidate {
  readonly key: FoundKey
  seen: AgentSpan | null
}

export const listSpans: ReadJob<SpanList, SpanPage> = function* (db, list, checkpoint) {
  const { scope, sort, direction, offset, limit } = list
  const rows: RowQuery = { expression: null, sort, fields: [], isCount: false, offset, limit }
  const picked = createRowSelection<Candidate>(rows, ({ seen }, path) =>
    seen === null ? undefined : spanField(seen, path),
  )
  const add = (key: FoundKey, seen: AgentSpan | null) => {
    const candidate = { key, seen }
    picked.add(candidate)
    candidate.seen = null
    return true
  }
  if (scope.expression === null && sort.length === 0) {
    yield* walkSpanKeys(db, scope, direction, checkpoint, function* (keys) {
      return keys.every((key) => add(key, null))
    })
  } else {
    const matches = createScopeMatcher(scope)
    const readSpans = createSpanReader(db, false, checkpoint)
    yield* walkSpanKeys(db, scope, direction, checkpoint, (keys) =>
      readSpans(keys, (span) => {
        const { call } = span
        return !matches(span) || add([keyOfSpan(span), call.started_at_us, call.id], span)
      }),
    )
  }
  const keys = picked.rows().map(({ key }) => key)
  return { spans: yield* readPage(db, keys, list, checkpoint), total_count: picked.count() }
}

function* readPage(
  db: Connection,
  keys: readonly FoundKey[],
  { shape, prices }: SpanList,
  checkpoint: Checkpoint,
): Generator<void, AgentSpanRow[]> {
  const table = prices && layerPrices(prices)
  const readSpans = createSpanReader(db, shape.withDetails, checkpoint)
  const rows: AgentSpanRow[] = []
  let characters = 0
  yield* readSpans(keys, (span) => {
    const row = renderSpanRow(span, costsOf(span, table), shape)
    characters += JSON.stringify(row).length
    if (characters > ANSWER_CHARS_MAX) throw tooLong()
    rows.push(row)
    return true
  })
  return rows
}

/** What is made of the spans of a scope, which come in order of time. */
interface SpanSums<Answer> {
  add(span: AgentSpan): void
  answer(): Answer
}

/** A job that looks at each span of a scope once. */
function createScanJob<Query extends { readonly scope: SpanScope }, Answer>(
  begin: (query: Query) => SpanSums<Answer>,
  optionsOf: (query: Query) => ScanOptions,
): ReadJob<Query, Answer> {
  return function* (db, query, checkpoint) {
    const sums = begin(query)
    yield* scanSpans(db, query.scope, optionsOf(query), checkpoint, (span) => {
      sums.add(span)
      return true
    })
    return sums.answer()
  }
}

const IN_ORDER = { direction: 'asc', withMessages: false } as const

interface GroupsQuery {
  readonly scope: SpanScope
  readonly grouping: SpanGrouping
}

export const groupSpans: ReadJob<GroupsQuery, GroupPage> = createScanJob(
  ({ grouping }) =>
    grouping.ofAgents
      ? createAgentGroups(grouping, grouping.ofAgents.agent_name)
      : createSpanGroups(grouping),
  ({ grouping: { withMessages } }) => ({ direction: 'asc', withMessages }),
)

interface StatsQuery {
  readonly scope: SpanScope
  readonly plan: SpanStatsPlan
}

export const measureSpans: ReadJob<StatsQuery, AgentSpanStatsResponse> = createScanJob(
  ({ plan }) => createSpanStats(plan),
  () => IN_ORDER,
)

interface AttributesQuery {
  readonly scope: SpanScope
  readonly page: AttributesPage
}

export const listAttributes: ReadJob<AttributesQuery, SpanAttributesResponse> = createScanJob(
  ({ page }) => createSpanAttributes(page),
  () => IN_ORDER,
)

interface SearchQuery {
  readonly scope: SpanScope
  readonly search: MessageSearch
}

export const searchMessages: ReadJob<SearchQuery, AgentSearchResponse> = createScanJob(
  ({ search }) => createMessageSearch(search),
  () => ({ direction: 'desc', withMessages: true }),
)

function tooLong(): ApiError {
  const message =
    'The spans of the page are too long for one answer: ask for fewer, or without details.'
  return new ApiError('validation_failed', { param: 'limit', message })
}
