/** The read jobs behind lists, groups, statistics and searches of spans. */

import {
  type AttributesPage,
  createSpanAttributes,
} from '../../../domain/agents/groups/span-attributes.ts'
import type { GroupPage, SpanGrouping } from '../../../domain/agents/groups/span-groups.ts'
import type { SpanStatsPlan } from '../../../domain/agents/groups/span-stats.ts'
import { createSpanStats } from '../../../domain/agents/groups/stats-rows.ts'
import { createMessageSearch, type MessageSearch } from '../../../domain/agents/message-search.ts'
import {
  createGroups,
  createSpanPicker,
  createSpanRows,
  type SpanSums,
} from '../../../domain/agents/span-answers.ts'
import { createScopeMatcher, type SpanScope } from '../../../domain/agents/span-scope.ts'
import type { AgentSearchResponse } from '../../../schemas/agents/agent-search.ts'
import type {
  AgentSpanStatsResponse,
  SpanAttributesResponse,
} from '../../../schemas/agents/agent-stats.ts'
import type { SpanList, SpanPage } from '../../api/agents/agents.ts'
import type { FoundKey } from '../calls/query/calls-walk.ts'
import type { ReadJob } from '../read/read-job.ts'
import {
  createSpanReader,
  keyOfSpan,
  type ScanOptions,
  scanSpans,
  walkSpanKeys,
} from './span-scan.ts'

export const listSpans: ReadJob<SpanList, SpanPage> = function* (db, list, checkpoint) {
  const { scope, sort, direction, shape, prices } = list
  const picked = createSpanPicker<FoundKey>(list)
  if (scope.expression === null && sort.length === 0) {
    yield* walkSpanKeys(db, scope, direction, checkpoint, function* (keys) {
      return keys.every((key) => picked.add(key, null))
    })
  } else {
    const matches = createScopeMatcher(scope)
    const readSpans = createSpanReader(db, false, checkpoint)
    yield* walkSpanKeys(db, scope, direction, checkpoint, (keys) =>
      readSpans(keys, (span) => {
        const { call } = span
        return !matches(span) || picked.add([keyOfSpan(span), call.started_at_us, call.id], span)
      }),
    )
  }
  const page = createSpanRows(shape, prices)
  const readPage = createSpanReader(db, shape.withDetails, checkpoint)
  yield* readPage(picked.keys(), (span) => {
    page.add(span)
    return true
  })
  return { spans: page.rows(), total_count: picked.count() }
}

/** Creates a job that visits each span of a scope once. */
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
  ({ grouping }) => createGroups(grouping),
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
