/** The counts of a group of agent spans. Pure. */
import { renderTimestamp } from '../../../schemas/timestamp.ts'
import type { SpanUsage } from '../../otel/span-usage.ts'
import { type AgentSpan, durationUs, isInvocation, statusOf, textColumn } from '../agent-span.ts'
import type { Column } from '../span-columns.ts'
import { addUsd, type SpanCosts } from '../span-costs.ts'

/** Limit: names in each list of a group. */
const NAMES_MAX = 100

const NAME_COLUMNS = {
  agent_names: 'agent_name',
  agent_versions: 'agent_version',
  provider_names: 'provider_name',
  request_models: 'request_model',
  conversation_names: 'conversation_name',
} as const satisfies Readonly<Record<string, Column>>

/** Sums of tokens, and of money, which is null until some is known. */
export function createTokenTotals() {
  const sums = {
    total_input_tokens: 0,
    total_output_tokens: 0,
    total_reasoning_tokens: 0,
    total_cache_read_input_tokens: 0,
    total_cache_creation_input_tokens: 0,
  }
  let money = { input: null, output: null, total: null } as Record<keyof SpanCosts, number | null>

  return {
    add(usage: SpanUsage | null, costs: SpanCosts | null): void {
      sums.total_input_tokens += usage?.prompt_tokens ?? 0
      sums.total_output_tokens += usage?.completion_tokens ?? 0
      sums.total_reasoning_tokens += usage?.completion_tokens_details?.reasoning_tokens ?? 0
      sums.total_cache_read_input_tokens += usage?.prompt_tokens_details?.cached_tokens ?? 0
      sums.total_cache_creation_input_tokens += usage?.cache_creation_input_tokens ?? 0
      money = {
        input: addUsd(money.input, costs?.input),
        output: addUsd(money.output, costs?.output),
        total: addUsd(money.total, costs?.total),
      }
    },
    tokens: () => ({ ...sums }),
    costs: () => money,
  }
}

export type SpanTotals = ReturnType<typeof createSpanTotals>

export function createSpanTotals() {
  const counts = { span_count: 0, invocation_count: 0, error_count: 0 }
  const reported = createTokenTotals()
  let durationUsSum = 0
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const names = new Map<string, Set<string>>()

  return {
    addTokens: reported.add,
    /** Counts a span, without its tokens. */
    add(span: AgentSpan): void {
      const { call } = span
      counts.span_count += 1
      if (isInvocation(span)) counts.invocation_count += 1
      if (statusOf(span) === 'ERROR') counts.error_count += 1
      durationUsSum += durationUs(span) ?? 0
      first = Math.min(first, call.started_at_us)
      last = Math.max(last, call.started_at_us)
      for (const [list, column] of Object.entries(NAME_COLUMNS)) {
        const name = textColumn(span, column)
        if (name === null) continue
        const found = names.get(list) ?? new Set()
        names.set(list, found)
        if (found.size < NAMES_MAX) found.add(name)
      }
    },
    /** The totals as the API shows them, with the names that spans of the group carry, sorted. */
    render: () => ({
      ...counts,
      ...reported.tokens(),
      total_duration_ms: Math.floor(durationUsSum / 1000),
      total_input_cost_usd: reported.costs().input,
      total_output_cost_usd: reported.costs().output,
      total_cost_usd: reported.costs().total,
      first_seen: renderTimestamp(first),
      last_seen: renderTimestamp(last),
      ...listNames(names),
    }),
  }
}

function listNames(names: ReadonlyMap<string, ReadonlySet<string>>) {
  const lists = Object.keys(NAME_COLUMNS).map((list) => [list, [...(names.get(list) ?? [])].sort()])
  return Object.fromEntries(lists) as Record<keyof typeof NAME_COLUMNS, string[]>
}
