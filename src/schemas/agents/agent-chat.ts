/** Turns of agents as chats, and the spans of conversations, on the wire. Additions to the spec. */
import { z } from 'zod'
import { ClientId, FreeObject } from '../primitives.ts'
import {
  count,
  project_id,
  started_after,
  started_before,
  statusCode,
  text,
  time,
  usd,
} from './span-values.ts'

/** Limit: turns of one answer. */
export const TURNS_MAX = 50
const CONVERSATIONS_MAX = 100

const include_feedback = z.boolean().nullish().meta({
  description: 'Whether to fill feedback. Default false.',
  default: false,
})
const include_model_tool_calls = z
  .boolean()
  .nullish()
  .describe(
    'Whether tool calls that an answer asks for and no span runs are told, too. Default false.',
  )

export const TraceChatRequest = z
  .strictObject({
    project_id,
    trace_id: ClientId.describe('The turn: a trace.'),
    include_feedback,
    include_model_tool_calls,
  })
  .meta({ id: 'TraceChatRequest', description: 'Which trace.' })

export const ConversationChatRequest = z
  .strictObject({
    project_id,
    conversation_id: ClientId.describe('Conversation: the thread_id of calls.'),
    include_feedback,
    include_model_tool_calls,
    limit: z
      .int()
      .min(1)
      .max(TURNS_MAX)
      .nullish()
      .meta({ description: `Turns at most. Default ${TURNS_MAX}.`, default: TURNS_MAX }),
    offset: z.int().min(0).nullish().describe('Newest turns to skip.'),
  })
  .meta({ id: 'ConversationChatRequest', description: 'Which turns of a conversation.' })

export const ConversationSpansRequest = z
  .strictObject({
    project_id,
    conversation_ids: z
      .array(ClientId)
      .max(CONVERSATIONS_MAX, `must have at most ${CONVERSATIONS_MAX} ids`)
      .nullish()
      .describe('Conversations.'),
    started_after,
    started_before,
  })
  .meta({ id: 'ConversationSpansRequest', description: 'Which conversations.' })

const tokens = z.int().nullable()
const refs = z.array(z.string())
const status = statusCode.nullable()

export const ChatFeedback = z
  .object({
    id: z.string(),
    weave_ref: z.string(),
    feedback_type: z.string(),
    payload: FreeObject,
    creator: text,
    created_at: time,
    svc_user_id: text,
    annotation_ref: text,
    runnable_ref: text,
    call_ref: text,
    trigger_ref: text,
    scorer_tags: z.array(z.string()).describe('Of the payload.'),
    scorer_ratings: z.record(z.string(), z.number()).describe('Of the payload.'),
    scorer_tag_reasons: z.record(z.string(), z.string()).describe('Always empty.'),
    scorer_tag_confidences: z.record(z.string(), z.number()).describe('Always empty.'),
    scorer_rating_reasons: z.record(z.string(), z.string()).describe('Always empty.'),
    scorer_rating_confidences: z.record(z.string(), z.number()).describe('Always empty.'),
  })
  .meta({ id: 'ChatFeedback', description: 'Feedback about a span, a turn or a conversation.' })
export type ChatFeedback = z.infer<typeof ChatFeedback>

const feedback = z.array(ChatFeedback).nullable().describe('null unless asked for.')

export const ChatMessage = z
  .object({
    type: z.enum([
      'user_message',
      'assistant_message',
      'tool_call',
      'agent_handoff',
      'agent_start',
      'context_compacted',
    ]),
    span_id: text,
    agent_name: text,
    agent_version: text,
    started_at: time,
    status_code: status,
    status_message: text,
    error_type: text,
    user_message: z.object({ text: z.string(), content_refs: refs }).optional(),
    assistant_message: z
      .object({
        text: z.string(),
        model: text,
        reasoning_content: text,
        reasoning_tokens: tokens,
        input_tokens: tokens,
        output_tokens: tokens,
        duration_ms: tokens,
        status,
        content_refs: refs,
      })
      .optional(),
    tool_call: z
      .object({
        tool_name: text,
        tool_arguments: text,
        tool_result: text,
        duration_ms: tokens,
        status,
        content_refs: refs,
      })
      .optional(),
    agent_start: z
      .object({ model: text, status, system_instructions: text, tool_definitions: text })
      .optional(),
    context_compacted: z
      .object({
        compaction_summary: text,
        compaction_items_before: tokens,
        compaction_items_after: tokens,
      })
      .optional(),
    feedback,
  })
  .meta({ id: 'AgentChatMessage', description: 'A step of a turn; the part of its type is there.' })
export type ChatMessage = z.infer<typeof ChatMessage>

export const TraceChat = z
  .object({
    trace_id: z.string(),
    root_span_name: text,
    agent_name: text,
    agent_version: text,
    provider: text,
    status_code: status,
    started_at: time,
    ended_at: time,
    total_duration_ms: tokens.describe('Milliseconds of the root span.'),
    total_input_tokens: count('Input tokens of the model calls.'),
    total_output_tokens: count('Output tokens of the model calls.'),
    total_reasoning_tokens: count('Output tokens spent on reasoning.'),
    total_cache_read_input_tokens: count('Input tokens read from a cache.'),
    total_cache_creation_input_tokens: count('Input tokens written to a cache.'),
    total_cost_usd: usd,
    svc_user_id: text,
    messages: z.array(ChatMessage),
    feedback,
  })
  .meta({ id: 'TraceChat', description: 'A turn as a chat.' })
export type TraceChat = z.infer<typeof TraceChat>

export const ConversationChat = z
  .object({
    conversation_id: z.string(),
    turns: z.array(TraceChat).describe('The page, the oldest first.'),
    total_turns: count('Turns in all.'),
    has_more: z.boolean().describe('Whether there are older turns than the page.'),
    limit: z.int(),
    offset: z.int(),
    total_cost_usd: usd.describe('Of the page.'),
    feedback,
  })
  .meta({ id: 'ConversationChat', description: 'Turns of a conversation.' })
export type ConversationChat = z.infer<typeof ConversationChat>

export const ConversationSpans = z
  .object({
    conversations: z.array(
      z.object({
        conversation_id: z.string(),
        spans: z.array(
          z.object({
            trace_id: z.string(),
            span_id: z.string(),
            operation_name: z.string(),
            duration_ms: z.int(),
            status: statusCode,
          }),
        ),
        spans_feedback: z.array(
          z.object({
            feedback_type: z.enum(['wandb.agent_user_feedback', 'wandb.agent_monitor']),
            trace_id: text.describe('The turn; null for the conversation.'),
            tags: z.array(z.string()),
            ratings: z.array(z.object({ name: z.string(), value: z.number() })),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'ConversationSpans', description: 'The spans of conversations.' })
export type ConversationSpans = z.infer<typeof ConversationSpans>
