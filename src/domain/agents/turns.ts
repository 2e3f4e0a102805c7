/** The spans of traces and conversations in the format of answers, within limits. Pure. */
import { ApiError } from '../../errors.ts'
import type { ConversationSpan, TraceChat } from '../../schemas/agents/agent-chat.ts'
import { layerPrices, type ProjectPrice } from '../prices/project-prices.ts'
import { type AgentSpan, durationUs, statusOf, textColumn } from './agent-span.ts'
import { renderTraceChat } from './trace-chat.ts'

/** Limit: spans of one answer. */
const SPANS_MAX = 10_000
/** Limit: characters of the bodies of these spans. */
const CHARS_MAX = 16 * 1024 * 1024
/** Limit: traces of the conversations of one question. */
export const TRACES_MAX = 100_000
/** Limit: traces that one walk reads. */
export const TRACES_AT_ONCE = 1000

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

/** The newest but some. */
export function pageOfTraces(
  traces: readonly string[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): readonly string[] {
  const end = Math.max(0, traces.length - offset)
  return traces.slice(Math.max(0, end - limit), end)
}

interface TurnsOptions {
  readonly prices: readonly ProjectPrice[]
  readonly withModelToolCalls: boolean
}

/** Takes the spans of traces in order of time. */
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
      { prices, withModelToolCalls }: TurnsOptions,
    ): TraceChat[] {
      const options = { prices: layerPrices(prices), withModelToolCalls }
      return trace_ids.flatMap((trace_id) => {
        const found = spans.get(trace_id)
        return found ? [renderTraceChat(found, options)] : []
      })
    },
  }
}

interface Conversation {
  readonly conversation_id: string
  readonly trace_ids: readonly string[]
  readonly spans: ConversationSpan[]
}

/** Takes conversations one after the other, and the spans of each in order of time. */
export function createConversations() {
  const conversations: Conversation[] = []
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
    answer: () => conversations,
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
    'There is more than one answer can hold: ask for fewer turns, or read /agents/spans/query.'
  return new ApiError('validation_failed', { param, message })
}
