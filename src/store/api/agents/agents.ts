/** The contract of agents, derived from calls that were received as OpenTelemetry spans. */

import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { AttributesPage } from '../../../domain/agents/groups/span-attributes.ts'
import type { GroupPage, SpanGrouping } from '../../../domain/agents/groups/span-groups.ts'
import type { SpanStatsPlan } from '../../../domain/agents/groups/span-stats.ts'
import type { MessageSearch } from '../../../domain/agents/message-search.ts'
import type { SpanRowShape } from '../../../domain/agents/span-row.ts'
import type { SpanScope } from '../../../domain/agents/span-scope.ts'
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { RowQuery } from '../../../domain/query/row-query.ts'
import type { ConversationSpan, TraceChat } from '../../../schemas/agents/agent-chat.ts'
import type { AgentSearchResponse } from '../../../schemas/agents/agent-search.ts'
import type { AgentSpanRow } from '../../../schemas/agents/agent-spans.ts'
import type {
  AgentSpanStatsResponse,
  SpanAttributesResponse,
} from '../../../schemas/agents/agent-stats.ts'

export interface SpanList {
  readonly scope: SpanScope
  /** Empty: by start time, in `direction`. */
  readonly sort: RowQuery['sort']
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  readonly limit: number
  readonly shape: SpanRowShape
  /** The project's own prices; null: no costs are wanted. */
  readonly prices: readonly ProjectPrice[] | null
}

export interface SpanPage {
  readonly spans: readonly AgentSpanRow[]
  readonly total_count: number
}

/** The turns of a conversation, the oldest first, or one trace. */
export interface TurnsQuery {
  readonly project_id: string
  readonly of:
    | { readonly trace_id: string }
    | { readonly conversation_id: string; readonly offset: number; readonly limit: number }
  readonly withModelToolCalls: boolean
  readonly prices: readonly ProjectPrice[]
}

export interface Turns {
  /** Without feedback. */
  readonly turns: readonly TraceChat[]
  /** Total number of turns, including those beyond the page. */
  readonly total: number
}

export interface ConversationsQuery {
  readonly project_id: string
  readonly conversation_ids: readonly string[]
  /** Inclusive, microseconds. */
  readonly startedUs: SpanScope['startedUs']
}

export interface SpansOfConversation {
  readonly conversation_id: string
  /** Its traces at any time, oldest first. */
  readonly trace_ids: readonly string[]
  readonly spans: readonly ConversationSpan[]
}

/**
 * All methods read only calls that were sent as spans and are not deleted. Each throws ApiError
 * validation_failed for an answer or a state that is too large, server_overloaded, read_timeout,
 * client_closed_request, store_unavailable.
 */
export interface AgentStore {
  listSpans(list: SpanList, caller: ReadCaller): Promise<SpanPage>
  groupSpans(scope: SpanScope, grouping: SpanGrouping, caller: ReadCaller): Promise<GroupPage>
  measureSpans(
    scope: SpanScope,
    plan: SpanStatsPlan,
    caller: ReadCaller,
  ): Promise<AgentSpanStatsResponse>
  listAttributes(
    scope: SpanScope,
    page: AttributesPage,
    caller: ReadCaller,
  ): Promise<SpanAttributesResponse>
  searchMessages(
    scope: SpanScope,
    search: MessageSearch,
    caller: ReadCaller,
  ): Promise<AgentSearchResponse>
  /** An unknown trace or conversation has no turns. */
  readTurns(query: TurnsQuery, caller: ReadCaller): Promise<Turns>
  /** Spans of all traces of a conversation. */
  listConversationSpans(
    query: ConversationsQuery,
    caller: ReadCaller,
  ): Promise<readonly SpansOfConversation[]>
}
