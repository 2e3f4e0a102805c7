/** Feedback about spans, turns and conversations, and their refs. Pure. */

import type { ChatFeedback, ConversationSpans, TraceChat } from '../../schemas/agents/agent-chat.ts'
import type { SCORE_DEFAULTS } from '../../schemas/feedback/score-defaults.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { callRef } from '../calls/call-ref.ts'
import { type FeedbackRow, readScores } from '../feedback/feedback-view.ts'
import { isObject } from '../json/is-object.ts'
import { parseLossless } from '../json/json-text.ts'

/** Feedback by the ref that it is about. */
export type FeedbackByRef = ReadonlyMap<string, readonly ChatFeedback[]>

/** The first segments of refs. */
interface RefBase {
  /** Scheme of the refs. */
  readonly refScheme: string
  readonly project_id: string
}

/** The refs of a span: as a call, and as an agent's span. */
function spanRefs({ refScheme, project_id }: RefBase, id: string): readonly string[] {
  return [callRef(refScheme, project_id, id), `${refScheme}:///${project_id}/agent_span/${id}`]
}

/** The refs of a turn and of its spans. */
export function refsOfTurn(base: RefBase, { trace_id, messages }: TraceChat): string[] {
  const spanIds = new Set(messages.flatMap(({ span_id }) => span_id ?? []))
  const { refScheme, project_id } = base
  return [
    turnRef(refScheme, project_id, trace_id),
    ...[...spanIds].flatMap((id) => spanRefs(base, id)),
  ]
}

/** A turn with its feedback. @param about - at least that of the turn's refs */
export function addFeedback(base: RefBase, turn: TraceChat, about: FeedbackByRef): TraceChat {
  const { refScheme, project_id } = base
  const messages = turn.messages.map((message) => ({
    ...message,
    feedback: spanRefs(base, message.span_id ?? '').flatMap((ref) => about.get(ref) ?? []),
  }))
  const own = about.get(turnRef(refScheme, project_id, turn.trace_id)) ?? []
  return { ...turn, messages, feedback: [...own] }
}

export function turnRef(scheme: string, project_id: string, trace_id: string): string {
  return `${scheme}:///${project_id}/agent_turn/${trace_id}`
}

export function conversationRef(scheme: string, project_id: string, id: string): string {
  const encoded = encodeURIComponent(id).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${scheme}:///${project_id}/agent_conversation/${encoded}`
}

/** Feedback as chats show it. */
export function renderChatFeedback(row: FeedbackRow): ChatFeedback {
  const parsed = parseLossless(row.payload_json ?? 'null')
  const payload: JsonObject = isObject(parsed) ? { ...parsed } : {}
  const scores = readScores(row, JSON.parse) as typeof SCORE_DEFAULTS
  return {
    id: row.id,
    weave_ref: row.weave_ref,
    feedback_type: row.feedback_type,
    payload,
    creator: row.creator,
    created_at: renderTimestamp(row.created_at_us),
    svc_user_id: row.svc_user_id,
    annotation_ref: row.annotation_ref,
    runnable_ref: row.runnable_ref,
    call_ref: row.call_ref,
    trigger_ref: row.trigger_ref,
    scorer_tags: [...scores.scorer_tags],
    scorer_tag_reasons: scores.scorer_tag_reasons,
    scorer_tag_confidences: scores.scorer_tag_confidences,
    scorer_ratings: scores.scorer_ratings,
    scorer_rating_reasons: scores.scorer_rating_reasons,
    scorer_rating_confidences: scores.scorer_rating_confidences,
  }
}

type Signal = ConversationSpans['conversations'][number]['spans_feedback'][number]

/** Returns the signal that a feedback sets on a conversation's spans; nothing for other types. */
export function readSignal(feedback: ChatFeedback, trace_id: string | null): Signal[] {
  const { feedback_type, scorer_tags, scorer_ratings } = feedback
  if (feedback_type !== 'wandb.agent_user_feedback' && feedback_type !== 'wandb.agent_monitor') {
    return []
  }
  const ratings = Object.entries(scorer_ratings).map(([name, value]) => ({ name, value }))
  return [{ feedback_type, trace_id, tags: scorer_tags, ratings }]
}
