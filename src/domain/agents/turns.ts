/** The spans of traces as chats, and those of conversations in brief, within limits. Pure. */
import { ApiError } from '../../errors.ts'
import type { ConversationSpan, TraceChat } from '../../schemas/agents/agent-chat.ts'
import { layerPrices, type ProjectPrice } from '../prices/project-prices.ts'
import { ANY_TIME, type TimeBounds } from '../query/time-bounds.ts'
import { type AgentSpan, durationUs, statusOf, textColumn } from './agent-span.ts'
import type { SpanSteps } from './span-scope.ts'
import { renderTraceChat } from './trace-chat.ts'

/** Limit: spans of one response. */
const SPANS_MAX = 10_000
/** Limit: characters of the bodies of these spans. */
const CHARS_MAX = 16 * 1024 * 1024
/** Limit: traces of the conversations of one request. */
export const TRACES_MAX = 100_000
/** Limit: traces of one walk. */
const TRACES_AT_ONCE = 1000

/** The traces of a conversation, the oldest first. */
export function createTraceOrder() {
  const starts = new Map<string, number>()
  return {
    /** @throws ApiError validation_failed for too many */
    add(trace_id: string, started_at_us: number): void {
      starts.set(trace_id, Math.min(started_at_us, starts.get(trace_id) ?? started_at_us))
      if (starts.size > TRACES_MAX) throw tooMany('conversation_id')
    },
    traceIds: (): string[] =>
      [...starts.entries()]
        .sort(([left, a], [right, b]) => a - b || (left < right ? -1 : 1))
        .map(([trace_id]) => trace_id),
  }
}

/** The newest traces after the offset, oldest first. */
function pageOfTraces(
  traces: readonly string[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): readonly string[] {
  const end = Math.max(0, traces.length - offset)
  return traces.slice(Math.max(0, end - limit), end)
}

/** The turns of a conversation, the oldest first, or one trace. */
interface TurnsQuery {
  readonly project_id: string
  readonly of:
    | { readonly trace_id: string }
    | { readonly conversation_id: string; readonly offset: number; readonly limit: number }
  readonly withModelToolCalls: boolean
  readonly prices: readonly ProjectPrice[]
}

interface Turns {
  /** The turns, without feedback. */
  readonly turns: readonly TraceChat[]
  /** Total number of turns, including those beyond the page. */
  readonly total: number
}

/** Reads turns. An unknown trace or conversation has none. @throws ApiError validation_failed for too many spans */
export function* readTurns(query: TurnsQuery): SpanSteps<Turns> {
  const { project_id, of } = query
  const traces =
    'trace_id' in of ? [of.trace_id] : yield* findTraces(project_id, of.conversation_id)
  const page = 'trace_id' in of ? traces : pageOfTraces(traces, of)
  const found = createTurns()
  if (page.length > 0) {
    const filter = { trace_ids: [...page] }
    const scope = { project_id, filter, startedUs: ANY_TIME, expression: null }
    yield { scope, direction: 'asc', withMessages: true, withInherited: false, take: found.add }
  }
  const turns = found.render(page, query)
  return { turns, total: 'trace_id' in of ? turns.length : traces.length }
}

/** Finds the traces of a conversation, oldest first. */
function* findTraces(project_id: string, conversation_id: string): SpanSteps<string[]> {
  const order = createTraceOrder()
  yield { project_id, conversation_id, take: order.add }
  return order.traceIds()
}

interface ConversationsQuery {
  readonly project_id: string
  readonly conversation_ids: readonly string[]
  /** Inclusive, microseconds. */
  readonly startedUs: TimeBounds
}

/** Reads the spans of all traces of conversations. @throws ApiError validation_failed for too many spans or traces */
export function* readConversations({
  project_id,
  conversation_ids,
  startedUs,
}: ConversationsQuery): SpanSteps<readonly SpansOfConversation[]> {
  const conversations = createConversations()
  for (const conversation_id of conversation_ids) {
    const trace_ids = yield* findTraces(project_id, conversation_id)
    conversations.begin(conversation_id, trace_ids)
    for (let from = 0; from < trace_ids.length; from += TRACES_AT_ONCE) {
      const filter = { trace_ids: trace_ids.slice(from, from + TRACES_AT_ONCE) }
      const scope = { project_id, filter, startedUs, expression: null }
      const walk = { scope, direction: 'asc', withMessages: false, withInherited: false } as const
      yield { ...walk, take: conversations.add }
    }
  }
  return conversations.result()
}

/** The turns of traces, whose spans are added in order of time. */
export function createTurns() {
  const spans = new Map<string, AgentSpan[]>()
  let [count, characters] = [0, 0]
  return {
    /** @throws ApiError validation_failed for too many */
    add(span: AgentSpan): void {
      const { trace_id, inputs_json, output_json, otel_dump_json } = span.call
      count += 1
      for (const json of [inputs_json, output_json, otel_dump_json]) characters += json?.length ?? 0
      if (count > SPANS_MAX || characters > CHARS_MAX) throw tooMany('limit')
      const known = spans.get(trace_id)
      if (known) known.push(span)
      else spans.set(trace_id, [span])
    },
    /** A trace without spans has no turn. */
    render(
      trace_ids: readonly string[],
      { prices, withModelToolCalls }: Pick<TurnsQuery, 'prices' | 'withModelToolCalls'>,
    ): TraceChat[] {
      const options = { prices: layerPrices(prices), withModelToolCalls }
      return trace_ids.flatMap((trace_id) => {
        const found = spans.get(trace_id)
        return found ? [renderTraceChat(found, options)] : []
      })
    },
  }
}

interface SpansOfConversation {
  readonly conversation_id: string
  /** Trace ids of the conversation at any time, oldest first. */
  readonly trace_ids: readonly string[]
  readonly spans: ConversationSpan[]
}

/** Conversations, each begun before its spans are added in order of time. */
export function createConversations() {
  const conversations: SpansOfConversation[] = []
  let [spanCount, traceCount] = [0, 0]
  return {
    /** @throws ApiError validation_failed for too many traces */
    begin(conversation_id: string, trace_ids: readonly string[]): void {
      traceCount += trace_ids.length
      if (traceCount > TRACES_MAX) throw tooMany('conversation_ids')
      conversations.push({ conversation_id, trace_ids, spans: [] })
    },
    /** @throws ApiError validation_failed for too many spans */
    add(span: AgentSpan): void {
      spanCount += 1
      if (spanCount > SPANS_MAX) throw tooMany('conversation_ids')
      conversations.at(-1)?.spans.push(renderSpan(span))
    },
    result: () => conversations,
  }
}

function renderSpan(span: AgentSpan): ConversationSpan {
  return {
    trace_id: span.call.trace_id,
    span_id: span.call.id,
    operation_name: textColumn(span, 'operation_name') ?? '',
    duration_ms: Math.floor((durationUs(span) ?? 0) / 1000),
    status: statusOf(span),
  }
}

function tooMany(param: string): ApiError {
  const message =
    'There is more than one response can hold: ask for fewer turns, or read /agents/spans/query.'
  return new ApiError('validation_failed', { param, message })
}
