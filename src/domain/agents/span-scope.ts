/** Resolves which agent spans a query covers, as plain data. Pure. */
import type { AgentSearchRequest } from '../../schemas/agents/agent-search.ts'
import type { CallsFilter } from '../../schemas/calls/calls-filter.ts'
import type { Query } from '../../schemas/query/query-expression.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import { type Expression, parseQuery } from '../query/query-expression.ts'
import { createMatcher } from '../query/query-matcher.ts'
import { requiredTexts } from '../query/row-query.ts'
import { type TimeBounds, timeBounds } from '../query/time-bounds.ts'
import type { AgentSpan } from './agent-span.ts'
import { SPAN_FIELDS, spanField } from './span-values.ts'

export interface SpanScope {
  readonly project_id: string
  readonly filter: CallsFilter
  /** Inclusive, microseconds. */
  readonly startedUs: TimeBounds
  readonly expression: Expression | null
}

/** A walk over the spans of a scope, in order of time, within a microsecond by nanoseconds. */
export interface SpanWalk {
  readonly scope: SpanScope
  readonly direction: 'asc' | 'desc'
  /** Whether messages are read. */
  readonly withMessages: boolean
  /** Whether spans have the agent and the conversation of their trace, also for the expression. */
  readonly withInherited: boolean
  take(span: AgentSpan): void
}

/** A walk over the traces of the spans of a conversation, in any order; a trace may be found several times. */
export interface TraceWalk {
  readonly project_id: string
  readonly conversation_id: string
  take(trace_id: string, started_at_us: number): void
}

/** A read: yields walks, whose finds a store passes to `take` before it continues. */
export type SpanSteps<Result> = Generator<SpanWalk | TraceWalk, Result, void>

interface ScopeRequest {
  readonly project_id: string
  readonly query?: Query | null | undefined
  readonly started_after?: string | null | undefined
  readonly started_before?: string | null | undefined
}

/**
 * Resolves a scope; ids and times that the query requires narrow what is read.
 *
 * @throws ApiError query_invalid
 */
export function resolveScope(request: ScopeRequest, filter: CallsFilter = {}): SpanScope {
  const expression = request.query ? parseQuery(request.query, { fields: SPAN_FIELDS }) : null
  const implied = timeBounds(expression, 'started_at')
  const { started_after: after, started_before: before } = request
  const trace_ids = requiredTexts(expression, 'trace_id') ?? []
  const call_ids = requiredTexts(expression, 'span_id') ?? []
  return {
    project_id: request.project_id,
    filter: { trace_ids, call_ids, ...filter },
    startedUs: {
      from: Math.max(implied.from, after ? timestampUs(after) : implied.from),
      to: Math.min(implied.to, before ? timestampUs(before) - 1 : implied.to),
    },
    expression,
  }
}

/** Whether a span satisfies the expression of a scope or of a measure; true without one. */
export function createScopeMatcher({
  expression,
}: Pick<SpanScope, 'expression'>): (span: AgentSpan) => boolean {
  if (expression === null) return () => true
  const meets = createMatcher(expression)
  return (span) => meets((path) => spanField(span, path))
}

/** Limit: traces that a scope may name instead of its conversations. */
const TRACES_MAX = 1000

/**
 * The scope with the traces of the conversations that its expression demands, since spans may have a conversation
 * from their trace; the same scope where it demands none.
 *
 * @param traces - of the conversations of conversationsOf
 */
export function narrowToTraces(scope: SpanScope, traces: ReadonlySet<string>): SpanScope {
  if (traces.size > TRACES_MAX) return scope
  // An empty list would be no filter.
  const trace_ids = traces.size === 0 ? [''] : [...traces]
  return { ...scope, filter: { ...scope.filter, trace_ids } }
}

/** The conversations that the expression of a scope demands; none where it names traces or spans already. */
export function conversationsOf({ expression, filter }: SpanScope): readonly string[] {
  const isNarrow = (filter.trace_ids ?? []).length > 0 || (filter.call_ids ?? []).length > 0
  return (isNarrow ? null : requiredTexts(expression, 'conversation_id')) ?? []
}

/** The scope of a search. */
export function searchScope(request: AgentSearchRequest): SpanScope {
  const { trace_id } = request
  const names = ['agent_name', 'provider_name', 'request_model', 'conversation_id'] as const
  const conditions = names.flatMap((name) =>
    request[name] ? [{ $eq: [{ $getField: name }, { $literal: request[name] }] }] : [],
  )
  const { project_id, started_after, started_before } = request
  const query = conditions.length === 0 ? null : { $expr: { $and: conditions } }
  return resolveScope(
    { project_id, started_after, started_before, query },
    trace_id ? { trace_ids: [trace_id] } : {},
  )
}
