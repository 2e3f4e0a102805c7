/** The reads of agent spans that all stores share, as walks that a store performs. Pure. */
import type { SpanAttributesResponse } from '../../schemas/agents/agent-stats.ts'
import type { AgentSpan } from './agent-span.ts'
import { createAgentGroups } from './groups/agent-groups.ts'
import { type AttributesPage, createSpanAttributes } from './groups/span-attributes.ts'
import { createSpanGroups, type SpanGrouping } from './groups/span-groups.ts'
import type { SpanStatsPlan } from './groups/span-stats.ts'
import { createSpanStats } from './groups/stats-rows.ts'
import { createMessageSearch, type MessageSearch } from './message-search.ts'
import type { SpanScope, SpanSteps, SpanWalk } from './span-scope.ts'
import { readConversations, readTurns } from './turns.ts'

/** Adds each span of a walk to sums. */
function* sum<Result>(
  sums: { add(span: AgentSpan): void; result(): Result },
  walk: Omit<SpanWalk, 'take'>,
): SpanSteps<Result> {
  yield { ...walk, take: sums.add }
  return sums.result()
}

interface Scoped<Plan> {
  readonly scope: SpanScope
  readonly plan: Plan
}

const IN_ORDER = { direction: 'asc', withMessages: false } as const

/** The reads by name. Inputs and results are plain data. */
export const SPAN_READS = {
  groups({ scope, plan }: Scoped<SpanGrouping>) {
    const { ofAgents, withMessages } = plan
    const groups = ofAgents ? createAgentGroups(plan, ofAgents.agent_name) : createSpanGroups(plan)
    return sum(groups, { scope, direction: 'asc', withMessages })
  },
  stats: ({ scope, plan }: Scoped<SpanStatsPlan>) =>
    sum(createSpanStats(plan), { scope, ...IN_ORDER }),
  attributes: ({ scope, plan }: Scoped<AttributesPage>): SpanSteps<SpanAttributesResponse> =>
    sum(createSpanAttributes(plan), { scope, ...IN_ORDER }),
  messages: ({ scope, plan }: Scoped<MessageSearch>) =>
    sum(createMessageSearch(plan), { scope, direction: 'desc', withMessages: true }),
  turns: readTurns,
  conversations: readConversations,
} as const

export type SpanRead = keyof typeof SPAN_READS
export type SpanReadInput<Name extends SpanRead> = Parameters<(typeof SPAN_READS)[Name]>[0]
export type SpanReadResult<Name extends SpanRead> =
  ReturnType<(typeof SPAN_READS)[Name]> extends SpanSteps<infer Result> ? Result : never
