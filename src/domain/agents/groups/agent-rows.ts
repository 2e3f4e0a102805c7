/** Agents and their versions as groups of the spans that name them. Pure. */

import type { AgentSpanGroup } from '../../../schemas/agents/agent-spans.ts'
import { AGENTS_LIMIT, type AgentRow } from '../../../schemas/agents/agents.ts'
import type { ProjectPrice } from '../../prices/project-prices.ts'
import { resolveScope, type SpanScope } from '../span-scope.ts'
import { resolveGrouping, type SpanGrouping } from './span-groups.ts'

interface AgentsQuestion {
  readonly project_id: string
  /** null: all agents. */
  readonly agent_name: string | null
  readonly withVersions?: boolean
  readonly sort_by?: SpanGrouping['sort'] | null | undefined
  readonly offset?: number | null | undefined
  readonly limit?: number | null | undefined
}

/** An agent is what spans name in gen_ai.agent.name. */
export function toAgentsQuestion(
  { project_id, agent_name, withVersions = false, sort_by, offset, limit }: AgentsQuestion,
  prices: readonly ProjectPrice[] | null,
): { readonly scope: SpanScope; readonly grouping: SpanGrouping } {
  const ref = (key: string) => ({ source: 'field' as const, key })
  const group_by = [ref('agent_name'), ...(withVersions ? [ref('agent_version')] : [])]
  const sort = sort_by ?? [{ field: 'last_seen', direction: 'desc' as const }]
  const request = { group_by, measures: null, sort_by: [...sort], offset, limit }
  return {
    scope: resolveScope({ project_id }),
    grouping: { ...resolveGrouping(request, prices, AGENTS_LIMIT), ofAgents: { agent_name } },
  }
}

export function toAgentRow(group: AgentSpanGroup, project_id: string): AgentRow {
  return {
    project_id,
    agent_name: String(group.group_keys.agent_name ?? ''),
    invocation_count: group.invocation_count,
    span_count: group.span_count,
    error_count: group.error_count,
    total_input_tokens: group.total_input_tokens,
    total_output_tokens: group.total_output_tokens,
    total_duration_ms: group.total_duration_ms,
    total_cost_usd: group.total_cost_usd,
    first_seen: group.first_seen,
    last_seen: group.last_seen,
  }
}
