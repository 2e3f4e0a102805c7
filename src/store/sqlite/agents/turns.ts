/** The read jobs behind turns: the spans of traces as chats, and those of conversations. */
import type { AgentSpan } from '../../../domain/agents/agent-span.ts'
import { durationUs, statusOf, textColumn } from '../../../domain/agents/agent-span.ts'
import { renderTraceChat } from '../../../domain/agents/trace-chat.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { ApiError } from '../../../errors.ts'
import type { ConversationSpan } from '../../../schemas/agents/agent-chat.ts'
import type {
  ConversationsQuery,
  SpansOfConversation,
  Turns,
  TurnsQuery,
} from '../../api/agents/agents.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { FIND_CONVERSATION_TRACES } from './agents.sql.ts'
import { scanSpans } from './span-scan.ts'

/** Limit: spans of one answer. */
const SPANS_MAX = 10_000
/** Limit: characters of the bodies of these spans. */
const CHARS_MAX = 16 * 1024 * 1024
/** Limit: traces of the conversations of one question. */
const TRACES_MAX = 100_000

const ANY_TIME = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

export const readTurns: ReadJob<TurnsQuery, Turns> = function* (db, query, checkpoint) {
  const { project_id, of, withModelToolCalls } = query
  const traces =
    'trace_id' in of ? [of.trace_id] : findTraces(db, project_id, of.conversation_id, checkpoint)
  const page = 'trace_id' in of ? traces : pageOf(traces, of)
  const spans = yield* readTraces(db, project_id, page, checkpoint)
  const options = { prices: layerPrices(query.prices), withModelToolCalls }
  const turns = page.flatMap((trace_id) => {
    const found = spans.get(trace_id)
    return found ? [renderTraceChat(found, options)] : []
  })
  return { turns, total: 'trace_id' in of ? turns.length : traces.length }
}

export const listConversationSpans: ReadJob<ConversationsQuery, readonly SpansOfConversation[]> =
  function* (db, { project_id, conversation_ids, startedUs }, checkpoint) {
    const conversations: SpansOfConversation[] = []
    let [spanCount, traceCount] = [0, 0]
    for (const conversation_id of conversation_ids) {
      const trace_ids = findTraces(db, project_id, conversation_id, checkpoint)
      traceCount += trace_ids.length
      if (traceCount > TRACES_MAX) throw tooMany('conversation_ids')
      const spans: ConversationSpan[] = []
      for (let at = 0; at < trace_ids.length; at += TRACES_AT_ONCE) {
        const filter = { trace_ids: trace_ids.slice(at, at + TRACES_AT_ONCE) }
        const scope = { project_id, filter, startedUs, expression: null }
        yield* scanSpans(
          db,
          scope,
          { direction: 'asc', withMessages: false },
          checkpoint,
          (span) => {
            spanCount += 1
            if (spanCount > SPANS_MAX) throw tooMany('conversation_ids')
            spans.push(renderSpan(span))
            return true
          },
        )
      }
      conversations.push({ conversation_id, trace_ids, spans })
    }
    return conversations
  }

/** Limit: traces that one walk reads. */
const TRACES_AT_ONCE = 1000

function renderSpan(span: AgentSpan): ConversationSpan {
  return {
    trace_id: span.call.trace_id,
    span_id: span.call.id,
    operation_name: textColumn(span, 'operation_name') ?? '',
    duration_ms: Math.floor((durationUs(span) ?? 0) / 1000),
    status: statusOf(span),
  }
}

/** The traces of a conversation, the oldest first. */
function findTraces(
  db: Connection,
  project_id: string,
  conversation_id: string,
  checkpoint: Checkpoint,
): string[] {
  const starts = new Map<string, number>()
  const select = db.prepare(FIND_CONVERSATION_TRACES).raw()
  for (const row of select.iterate({ project_id, conversation_id })) {
    const [trace_id, started_at_us] = row as [string, number]
    starts.set(trace_id, Math.min(started_at_us, starts.get(trace_id) ?? started_at_us))
    if (starts.size > TRACES_MAX) throw tooMany('conversation_id')
    checkpoint()
  }
  return [...starts.entries()]
    .sort(([left, a], [right, b]) => a - b || (left < right ? -1 : 1))
    .map(([trace_id]) => trace_id)
}

/** The newest but some. */
function pageOf(
  traces: readonly string[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): readonly string[] {
  const end = Math.max(0, traces.length - offset)
  return traces.slice(Math.max(0, end - limit), end)
}

function* readTraces(
  db: Connection,
  project_id: string,
  trace_ids: readonly string[],
  checkpoint: Checkpoint,
): Generator<void, Map<string, AgentSpan[]>> {
  const spans = new Map<string, AgentSpan[]>()
  if (trace_ids.length === 0) return spans
  const scope = {
    project_id,
    filter: { trace_ids: [...trace_ids] },
    startedUs: ANY_TIME,
    expression: null,
  }
  let [count, characters] = [0, 0]
  yield* scanSpans(db, scope, { direction: 'asc', withMessages: true }, checkpoint, (span) => {
    const { trace_id, inputs_json, output_json, otel_dump_json } = span.call
    count += 1
    for (const json of [inputs_json, output_json, otel_dump_json]) characters += json?.length ?? 0
    if (count > SPANS_MAX || characters > CHARS_MAX) throw tooMany('limit')
    const known = spans.get(trace_id)
    if (known) known.push(span)
    else spans.set(trace_id, [span])
    return true
  })
  return spans
}

function tooMany(param: string): ApiError {
  const message =
    'There is more than one answer can hold: ask for fewer turns, or read /agents/spans/query.'
  return new ApiError('validation_failed', { param, message })
}
