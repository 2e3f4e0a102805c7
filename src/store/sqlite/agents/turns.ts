/** The read jobs behind turns: the spans of traces as chats, and those of conversations. */
import type { AgentSpan } from '../../../domain/agents/agent-span.ts'
import { durationUs, statusOf, textColumn } from '../../../domain/agents/agent-span.ts'
import {
  callRefs,
  conversationRef,
  readSignal,
  renderChatFeedback,
  turnRef,
} from '../../../domain/agents/chat-feedback.ts'
import { renderTraceChat, type TraceChatOptions } from '../../../domain/agents/trace-chat.ts'
import type { FeedbackRow } from '../../../domain/feedback/feedback-view.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import { ApiError } from '../../../errors.ts'
import type { ChatFeedback, ConversationSpans } from '../../../schemas/agents/agent-chat.ts'
import type { ConversationsQuery, Turns, TurnsQuery } from '../../api/agents/agents.ts'
import type { Connection } from '../db/connection.ts'
import { selectFeedback } from '../feedback/feedback.sql.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { FIND_CONVERSATION_TRACES } from './agents.sql.ts'
import { scanSpans } from './span-scan.ts'

/** Limit: spans of one answer. */
const SPANS_MAX = 10_000
/** Limit: characters of the bodies of these spans. */
const CHARS_MAX = 16 * 1024 * 1024
/** Limit: traces of one conversation. */
const TRACES_MAX = 100_000
/** Limit: feedback of one answer. */
const FEEDBACK_MAX = 10_000

const ANY_TIME = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }
const FROM_THE_BEGINNING = { after_us: Number.MIN_SAFE_INTEGER, after_id: '' }

export const readTurns: ReadJob<TurnsQuery, Turns> = function* (db, query, checkpoint) {
  const { project_id, of, refScheme } = query
  const traces =
    'trace_id' in of ? [of.trace_id] : findTraces(db, project_id, of.conversation_id, checkpoint)
  const page = 'trace_id' in of ? traces : pageOf(traces, of)
  const spans = yield* readTraces(db, project_id, page, checkpoint)
  const found = page.filter((trace_id) => spans.has(trace_id))
  const refOf = callRefs(refScheme, project_id)
  const refs = query.withFeedback
    ? [
        ...found.map((id) => turnRef(refScheme, project_id, id)),
        ...('trace_id' in of ? [] : [conversationRef(refScheme, project_id, of.conversation_id)]),
        ...[...spans.values()].flat().flatMap(({ call }) => refOf(call.id)),
      ]
    : []
  const feedback = findFeedback(db, project_id, refs, checkpoint)
  const prices = layerPrices(query.prices)
  const turns = found.map((trace_id) => {
    const options: TraceChatOptions = {
      feedback: query.withFeedback
        ? feedbackOfSpans(spans.get(trace_id) ?? [], refOf, feedback)
        : null,
      turnFeedback: feedback.get(turnRef(refScheme, project_id, trace_id)) ?? [],
      prices,
      withModelToolCalls: query.withModelToolCalls,
    }
    return renderTraceChat(spans.get(trace_id) ?? [], options)
  })
  const about =
    'trace_id' in of
      ? []
      : (feedback.get(conversationRef(refScheme, project_id, of.conversation_id)) ?? [])
  return {
    turns,
    total: 'trace_id' in of ? turns.length : traces.length,
    feedback: query.withFeedback ? about : null,
  }
}

export const listConversationSpans: ReadJob<ConversationsQuery, ConversationSpans> = function* (
  db,
  { project_id, conversation_ids, startedUs, refScheme },
  checkpoint,
) {
  const conversations: ConversationSpans['conversations'] = []
  let count = 0
  for (const conversation_id of conversation_ids) {
    const trace_ids = findTraces(db, project_id, conversation_id, checkpoint)
    const spans: ConversationSpans['conversations'][number]['spans'] = []
    for (let at = 0; at < trace_ids.length; at += TRACES_AT_ONCE) {
      const filter = { trace_ids: trace_ids.slice(at, at + TRACES_AT_ONCE) }
      const scope = { project_id, filter, startedUs, expression: null }
      yield* scanSpans(db, scope, { direction: 'asc', withMessages: false }, checkpoint, (span) => {
        count += 1
        if (count > SPANS_MAX) throw tooMany('conversation_ids')
        spans.push(renderSpan(span))
        return true
      })
    }
    const refs = [
      conversationRef(refScheme, project_id, conversation_id),
      ...trace_ids.map((id) => turnRef(refScheme, project_id, id)),
    ]
    const feedback = findFeedback(db, project_id, refs, checkpoint)
    const spans_feedback = refs.flatMap((ref, at) =>
      (feedback.get(ref) ?? []).flatMap((row) => readSignal(row, trace_ids[at - 1] ?? null)),
    )
    conversations.push({ conversation_id, spans, spans_feedback })
  }
  return { conversations }
}

/** Limit: traces that one walk reads. */
const TRACES_AT_ONCE = 1000

function renderSpan(span: AgentSpan) {
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

/** Feedback by the ref that it is about. */
function findFeedback(
  db: Connection,
  project_id: string,
  refs: readonly string[],
  checkpoint: Checkpoint,
): Map<string, ChatFeedback[]> {
  const found = new Map<string, ChatFeedback[]>()
  if (refs.length === 0) return found
  const select = db.prepare(selectFeedback('weave_ref', true))
  let count = 0
  for (const row of select.iterate({
    ...{ project_id, texts: JSON.stringify(refs) },
    ...FROM_THE_BEGINNING,
  })) {
    count += 1
    if (count > FEEDBACK_MAX) throw tooMany('include_feedback')
    const feedback = renderChatFeedback(row as FeedbackRow)
    const known = found.get(feedback.weave_ref)
    if (known) known.push(feedback)
    else found.set(feedback.weave_ref, [feedback])
    checkpoint()
  }
  return found
}

function feedbackOfSpans(
  spans: readonly AgentSpan[],
  refOf: (id: string) => readonly string[],
  feedback: ReadonlyMap<string, readonly ChatFeedback[]>,
): Map<string, ChatFeedback[]> {
  return new Map(
    spans.map(({ call }) => [call.id, refOf(call.id).flatMap((ref) => feedback.get(ref) ?? [])]),
  )
}

function tooMany(param: string): ApiError {
  const message =
    'There is more than one answer can hold: ask for fewer turns, or read /agents/spans/query.'
  return new ApiError('validation_failed', { param, message })
}
