/** Spans of agents: lists, groups, statistics, search. Additions to the spec, in the format of the tracing SDKs. */

import { resolveGrouping } from '../../domain/agents/groups/span-groups.ts'
import { resolveSpanStats } from '../../domain/agents/groups/span-stats.ts'
import { resolveSearch } from '../../domain/agents/message-search.ts'
import { resolveSpanList } from '../../domain/agents/span-list.ts'
import { resolveScope, searchScope } from '../../domain/agents/span-scope.ts'
import { resolveWindow } from '../../domain/time/time-window.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import {
  AgentSearchRequest,
  AgentSearchResponse,
  SEARCH_LIMIT,
} from '../../schemas/agents/agent-search.ts'
import {
  AgentSpansQueryRequest,
  AgentSpansQueryResponse,
  SPANS_LIMIT,
} from '../../schemas/agents/agent-spans.ts'
import {
  AgentSpanStatsRequest,
  AgentSpanStatsResponse,
  ATTRIBUTES_LIMIT,
  GROUP_LIMIT,
  SpanAttributesRequest,
  SpanAttributesResponse,
} from '../../schemas/agents/agent-stats.ts'
import type { AgentRoutesOptions } from './agents.ts'

const tags = ['agents']

export async function agentSpanRoutes(app: App, options: AgentRoutesOptions): Promise<void> {
  addList(app, options)
  addStats(app, options)
  addAttributes(app, options)
  addSearch(app, options)
}

function addList(app: App, { agents, prices }: AgentRoutesOptions): void {
  addProjectRead(
    app,
    '/agents/spans/query',
    {
      tags,
      operationId: 'queryAgentSpans',
      summary: 'List spans, one by one or grouped (addition to the spec).',
      body: AgentSpansQueryRequest,
      response: AgentSpansQueryResponse,
    },
    async (body, caller) => {
      const { project_id, include_costs, group_by } = body
      const scope = resolveScope(body)
      const listed = include_costs ? await prices.listPrices(project_id) : null
      if (!group_by || group_by.length === 0) {
        const list = { scope, ...resolveSpanList(body, SPANS_LIMIT), prices: listed }
        const { spans, total_count } = await agents.listSpans(list, caller)
        return { spans: [...spans], groups: [], total_count }
      }
      const plan = resolveGrouping(body, listed, SPANS_LIMIT)
      const { groups, total_count } = await agents.read('groups', { scope, plan }, caller)
      return { spans: [], groups: [...groups], total_count }
    },
  )
}

function addStats(app: App, { agents }: AgentRoutesOptions): void {
  addProjectRead(
    app,
    '/agents/spans/stats',
    {
      tags,
      operationId: 'getAgentSpanStats',
      summary: 'Time-bucketed statistics of spans (addition to the spec).',
      body: AgentSpanStatsRequest,
      response: AgentSpanStatsResponse,
    },
    async (body, caller) => {
      const window = resolveWindow(body, Date.now())
      const plan = resolveSpanStats(body, window, GROUP_LIMIT)
      const scope = resolveScope(body)
      const from = Math.max(scope.startedUs.from, window.startUs)
      const to = Math.min(scope.startedUs.to, window.endUs - 1)
      const query = { scope: { ...scope, startedUs: { from, to } }, plan }
      const stats = await agents.read('stats', query, caller)
      return { ...stats, rows: app.naming.toWireNames(stats.rows) }
    },
  )
}

function addAttributes(app: App, { agents }: AgentRoutesOptions): void {
  addProjectRead(
    app,
    '/agents/spans/custom-attrs/schema',
    {
      tags,
      operationId: 'listSpanAttributes',
      summary: 'List the custom attributes of spans (addition to the spec).',
      body: SpanAttributesRequest,
      response: SpanAttributesResponse,
    },
    async (body, caller) => {
      const plan = { limit: body.limit ?? ATTRIBUTES_LIMIT, offset: body.offset ?? 0 }
      return agents.read('attributes', { scope: resolveScope(body), plan }, caller)
    },
  )
}

function addSearch(app: App, { agents }: AgentRoutesOptions): void {
  addProjectRead(
    app,
    '/agents/search',
    {
      tags,
      operationId: 'searchAgentMessages',
      summary: 'Search the messages of spans, grouped by conversation (addition to the spec).',
      body: AgentSearchRequest,
      response: AgentSearchResponse,
    },
    async (body, caller) => {
      const plan = resolveSearch(body, SEARCH_LIMIT)
      return agents.read('messages', { scope: searchScope(body), plan }, caller)
    },
  )
}
