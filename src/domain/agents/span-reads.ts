/** The reads of agent spans that all stores share, as walks that a store performs. Pure. */
import type { SpanAttributesResponse } from '../../schemas/agents/agent-stats.ts'
import type { AgentSpan } from './agent-span.ts'
import { createAgentGroups } from './groups/agent-groups.ts'
import { type AttributesPage, createSpanAttributes } from './groups/span-attributes.ts'
import { createSpanGroups, type SpanGrouping } from './groups/span-groups.ts'
import type { SpanStatsPlan } from './groups/span-stats.ts'
import { createSpanStats } from './groups/stats-rows.ts'
import { createMessageSearch, type MessageSearch } from './message-search.ts'
import {
  conversationsOf,
  narrowToTraces,
  type SpanScope,
  type SpanSteps,
  type SpanWalk,
} from './span-scope.ts'
import { namesInherited } from './trace-identity.ts'
import { readConversations, readTurns } from './turns.ts'

/** Adds each span of a walk to sums. */
function* sum<Result>(
  sums: { add(span: AgentSpan): void; result(): Result },
  walk: Omit<SpanWalk, 'take'>,
): SpanSteps<Result> {
  const scope = yield* narrowScope(walk.scope)
  yield { ...walk, scope, take: sums.add }
  return sums.result()
}

/** Names the traces of the conversations that a scope demands: an index finds them. */
function* narrowScope(scope: SpanScope): SpanSteps<SpanScope> {
  const { project_id } = scope
  const conversations = conversationsOf(scope)
  const traces = new Set<string>()
  for (const conversation_id of conversations) {
    yield { project_id, conversation_id, take: (trace_id: string) => traces.add(trace_id) }
  }
  return conversations.length === 0 ? scope : narrowToTraces(scope, traces)
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
    // Agents are groups of the spans that name them.
    return sum(groups, { scope, direction: 'asc', withMessages, withInherited: !ofAgents })
  },
  stats: ({ scope, plan }: Scoped<SpanStatsPlan>) =>
    sum(createSpanStats(plan), {
      scope,
      ...IN_ORDER,
      withInherited: namesInherited([scope.expression, plan]),
    }),
  attributes: ({ scope, plan }: Scoped<AttributesPage>): SpanSteps<SpanAttributesResponse> =>
    sum(createSpanAttributes(plan), {
      scope,
      ...IN_ORDER,
      withInherited: namesInherited(scope.expression),
    }),
  messages: ({ scope, plan }: Scoped<MessageSearch>) =>
    sum(createMessageSearch(plan), {
      scope,
      direction: 'desc',
      withMessages: true,
      withInherited: true,
    }),
  turns: readTurns,
  conversations: readConversations,
} as const

export type SpanRead = keyof typeof SPAN_READS
export type SpanReadInput<Name extends SpanRead> = Parameters<(typeof SPAN_READS)[Name]>[0]
export type SpanReadResult<Name extends SpanRead> =
  ReturnType<(typeof SPAN_READS)[Name]> extends SpanSteps<infer Result> ? Result : never
