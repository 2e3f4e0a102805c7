/**
 * Agents as groups of the spans that name them, with the tokens of the model calls that they make. Pure.
 *
 * Why not the tokens of the spans that name an agent: some libraries report nothing there, as the Weave SDK, and others
 * what all the calls below report together.
 */
import type { AgentSpanGroup } from '../../../schemas/agents/agent-spans.ts'
import type { AgentRow } from '../../../schemas/agents/agents.ts'
import { layerPrices, type ProjectPrice } from '../../prices/project-prices.ts'
import { type AgentSpan, isModelCall, textColumn } from '../agent-span.ts'
import { costsOf, type SpanCosts } from '../span-costs.ts'
import { resolveScope, type SpanScope } from '../span-scope.ts'
import {
  createSpanGroups,
  type GroupPage,
  resolveGrouping,
  type SpanGrouping,
} from './span-groups.ts'
import type { SpanTotals } from './span-totals.ts'

/** Limit: spans that wait for others of their trace; then the trace that began first is counted as it stands. */
const PENDING_MAX = 100_000
/** Limit: steps from a span to the agent above it. */
const DEPTH_MAX = 200

/** A span that waits until its trace is counted. */
interface PendingSpan {
  readonly parent_id: string | null
  readonly namesAgent: boolean
  /** Totals of the agent that the span names; null for one that is not wanted. */
  readonly totals: SpanTotals | null
  readonly isModelCall: boolean
  readonly usage: AgentSpan['usage']
  readonly costs: SpanCosts | null
  /** Whether tokens of the span or of its descendants were counted. */
  isCounted: boolean
}

type Trace = Map<string, PendingSpan>

/**
 * Takes all spans of a project in the order of their time.
 *
 * A model call counts for the agent that it names itself, else for the nearest one above it. An agent without any model
 * call below has the tokens that its own span reports.
 *
 * @param agentName - null: all agents
 */
export function createAgentGroups(grouping: SpanGrouping, agentName: string | null) {
  const groups = createSpanGroups(grouping)
  const prices = grouping.prices && layerPrices(grouping.prices)
  const traces = new Map<string, Trace>()
  let pendingCount = 0

  function settleFirst(): void {
    const [first] = traces
    if (first === undefined) return
    const [trace_id, trace] = first
    traces.delete(trace_id)
    pendingCount -= trace.size
    countTokens(trace)
  }

  return {
    add(span: AgentSpan): void {
      const name = textColumn(span, 'agent_name')
      const isWanted = name !== null && (agentName === null || name === agentName)
      const { id, trace_id, parent_id } = span.call
      const trace: Trace = traces.get(trace_id) ?? new Map()
      traces.set(trace_id, trace)
      trace.set(id, {
        parent_id,
        namesAgent: name !== null,
        totals: isWanted ? groups.add(span, { withTokens: false }) : null,
        isModelCall: isModelCall(span),
        usage: span.usage,
        costs: costsOf(span, prices),
        isCounted: false,
      })
      pendingCount += 1
      if (pendingCount > PENDING_MAX) settleFirst()
    },
    result(): GroupPage {
      while (traces.size > 0) settleFirst()
      return groups.result()
    },
  }
}

function countTokens(trace: Trace): void {
  // Children began after their parents: what the innermost span reports is not counted again above.
  for (const span of [...trace.values()].toReversed()) {
    const isReport = span.usage !== null && (span.isModelCall || span.namesAgent)
    if (isReport && !span.isCounted) count(span, trace)
  }
}

/** Counts the tokens of a span to its agent, and marks all that may repeat them. */
function count(span: PendingSpan, trace: Trace): void {
  let agent: PendingSpan | null = null
  let at: PendingSpan | undefined = span
  for (let depth = 0; at !== undefined && depth < DEPTH_MAX; depth += 1) {
    at.isCounted = true
    if (at.namesAgent) agent ??= at
    at = at.parent_id === null ? undefined : trace.get(at.parent_id)
  }
  agent?.totals?.addTokens(span.usage, span.costs)
}

interface AgentsQuery {
  readonly project_id: string
  /** null: all agents. */
  readonly agent_name: string | null
  readonly withVersions?: boolean
  readonly sort_by?: SpanGrouping['sort'] | null | undefined
  readonly offset?: number | null | undefined
  readonly limit?: number | null | undefined
}

/** The grouping of agents, which are what spans name in gen_ai.agent.name. @throws ApiError validation_failed */
export function resolveAgents(
  { project_id, agent_name, withVersions = false, sort_by, offset, limit }: AgentsQuery,
  prices: readonly ProjectPrice[] | null,
  limitDefault: number,
): { readonly scope: SpanScope; readonly plan: SpanGrouping } {
  const ref = (key: string) => ({ source: 'field' as const, key })
  const group_by = [ref('agent_name'), ...(withVersions ? [ref('agent_version')] : [])]
  const sort = sort_by ?? [{ field: 'last_seen', direction: 'desc' as const }]
  const request = { group_by, measures: null, sort_by: [...sort], offset, limit }
  return {
    scope: resolveScope({ project_id }),
    plan: { ...resolveGrouping(request, prices, limitDefault), ofAgents: { agent_name } },
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
