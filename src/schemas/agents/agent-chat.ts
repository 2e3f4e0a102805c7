/** Turns of agents as chats, and the spans of conversations, on the wire. Additions to the spec. */
import { z } from 'zod'
import { ClientId, FreeObject, switchField, Total } from '../primitives.ts'
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

/** Limit: turns of one response. */
export const TURNS_MAX = 50
const CONVERSATIONS_MAX = 100

const include_feedback = switchField('Whether to fill feedback.')
const include_model_tool_calls = z
  .boolean()
  .nullish()
  .describe(
    'Whether to include tool calls that a response requests and no span runs. Default false.',
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
      .meta({ description: `Maximum number of turns. Default ${TURNS_MAX}.`, default: TURNS_MAX }),
    offset: z.int().min(0).nullish().describe('Number of newest turns to skip.'),
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

const tokens = Total.nullable()
const refs = z.array(z.string())
const status = statusCode.nullable()

export const ChatFeedback = z
  .object({
    id: z.string().describe('Id of the feedback.'),
    weave_ref: z.string().describe('Its subject.'),
    feedback_type: z.string().describe('Kind of the feedback.'),
    payload: FreeObject.describe('Its content.'),
    creator: text.describe('Name of its author.'),
    created_at: time.describe('When it was stored, UTC.'),
    svc_user_id: text.describe('User whose key sent it.'),
    annotation_ref: text.describe('Annotation spec that was filled in.'),
    runnable_ref: text.describe('Op that made it.'),
    call_ref: text.describe('Call that made it.'),
    trigger_ref: text.describe('Object that started the op.'),
    scorer_tags: z.array(z.string()).describe('Tags that it gives.'),
    scorer_ratings: z.record(z.string(), z.number()).describe('Ratings that were given.'),
    scorer_tag_reasons: z.record(z.string(), z.string()).describe('Reasons, by tag.'),
    scorer_tag_confidences: z.record(z.string(), z.number()).describe('Confidence, by tag.'),
    scorer_rating_reasons: z.record(z.string(), z.string()).describe('Reasons, by rating.'),
    scorer_rating_confidences: z.record(z.string(), z.number()).describe('Confidence, by rating.'),
  })
  .meta({ id: 'ChatFeedback', description: 'Feedback on a span, a turn or a conversation.' })
export type ChatFeedback = z.infer<typeof ChatFeedback>

const feedback = z.array(ChatFeedback).nullable().describe('null unless requested.')

export const ChatMessage = z
  .object({
    type: z
      .enum([
        'user_message',
        'assistant_message',
        'tool_call',
        'agent_handoff',
        'agent_start',
        'context_compacted',
      ])
      .describe('Type of the step: which of the parts below is set; a handoff has none.'),
    span_id: text.describe('The span.'),
    agent_name: text.describe('Name of the agent; null when none is named.'),
    agent_version: text.describe('Version of the agent.'),
    started_at: time.describe('When the span began, UTC.'),
    status_code: status.describe('Status of the span.'),
    status_message: text.describe('Text of the error.'),
    error_type: text.describe('Kind of the error.'),
    user_message: z
      .object({
        text: z.string().describe('The text.'),
        content_refs: refs.describe('Refs of contents in it.'),
      })
      .optional()
      .describe('A message of a person.'),
    assistant_message: z
      .object({
        text: z.string().describe('The text.'),
        model: text.describe('The model.'),
        reasoning_content: text.describe('Reasoning of the model.'),
        reasoning_tokens: tokens.describe('Output tokens spent on reasoning.'),
        input_tokens: tokens.describe('Input tokens, cached ones included.'),
        output_tokens: tokens.describe('Output tokens.'),
        duration_ms: tokens.describe('Milliseconds.'),
        status: status.describe('Status of the span.'),
        content_refs: refs.describe('Refs of contents in it.'),
      })
      .optional()
      .describe('A response of a model.'),
    tool_call: z
      .object({
        tool_name: text.describe('Name of the tool.'),
        tool_arguments: text.describe('Arguments, as JSON.'),
        tool_result: text.describe('Result of the tool.'),
        duration_ms: tokens.describe('Milliseconds.'),
        status: status.describe('Status of the span.'),
        content_refs: refs.describe('Refs of contents in it.'),
      })
      .optional()
      .describe('A run of a tool.'),
    agent_start: z
      .object({
        model: text.describe('Model of the agent.'),
        status: status.describe('Status of the span.'),
        system_instructions: text.describe('Instructions of the agent.'),
        tool_definitions: text.describe('Tools that it has, as JSON.'),
      })
      .optional()
      .describe('The start of an agent.'),
    context_compacted: z
      .object({
        compaction_summary: text.describe('Summary of the context.'),
        compaction_items_before: tokens.describe('Items before the compaction.'),
        compaction_items_after: tokens.describe('Items after the compaction.'),
      })
      .optional()
      .describe('A compaction of the context.'),
    feedback,
  })
  .meta({ id: 'AgentChatMessage', description: 'A step of a turn; the part of its type is set.' })
export type ChatMessage = z.infer<typeof ChatMessage>

export const TraceChat = z
  .object({
    trace_id: z.string().describe('The trace.'),
    root_span_name: text.describe('Name of its root.'),
    agent_name: text.describe('Name of the agent; null when none is named.'),
    agent_version: text.describe('Version of the agent.'),
    provider: text.describe('Provider of the model.'),
    status_code: status.describe('Status of the span.'),
    started_at: time.describe('When the span began, UTC.'),
    ended_at: time.describe('When the span ended, UTC; null while it runs.'),
    total_duration_ms: tokens.describe('Milliseconds of the root span.'),
    total_input_tokens: count('Input tokens of the model calls.'),
    total_output_tokens: count('Output tokens of the model calls.'),
    total_reasoning_tokens: count('Output tokens spent on reasoning.'),
    total_cache_read_input_tokens: count('Input tokens read from a cache.'),
    total_cache_creation_input_tokens: count('Input tokens written to a cache.'),
    total_cost_usd: usd,
    svc_user_id: text.describe('User whose key sent it.'),
    messages: z.array(ChatMessage).describe('Steps in order.'),
    feedback,
  })
  .meta({ id: 'TraceChat', description: 'A turn as a chat.' })
export type TraceChat = z.infer<typeof TraceChat>

export const ConversationChat = z
  .object({
    conversation_id: z.string().describe('The conversation.'),
    turns: z.array(TraceChat).describe('The page, oldest first.'),
    total_turns: count('Turns in all.'),
    has_more: z.boolean().describe('Whether there are older turns than the page.'),
    limit: z.int().describe('Maximum number of turns of the page.'),
    offset: z.int().describe('Number of skipped turns.'),
    total_cost_usd: usd.describe('Sum over the turns of the page, USD; null without a price.'),
    feedback,
  })
  .meta({ id: 'ConversationChat', description: 'Turns of a conversation.' })

const ConversationSpan = z.object({
  trace_id: z.string().describe('The trace.'),
  span_id: z.string().describe('The span.'),
  operation_name: z.string().describe('Operation of the span.'),
  duration_ms: z.int().describe('Milliseconds.'),
  status: statusCode.describe('Status of the span.'),
})
export type ConversationSpan = z.infer<typeof ConversationSpan>

export const ConversationSpans = z
  .object({
    conversations: z
      .array(
        z.object({
          conversation_id: z.string().describe('The conversation.'),
          spans: z.array(ConversationSpan).describe('Its spans, by time.'),
          spans_feedback: z
            .array(
              z.object({
                feedback_type: z
                  .enum(['wandb.agent_user_feedback', 'wandb.agent_monitor'])
                  .describe('Kind of the feedback.'),
                trace_id: text.describe('The turn; null for the conversation.'),
                tags: z.array(z.string()).describe('Tags that it gives.'),
                ratings: z
                  .array(
                    z.object({
                      name: z.string().describe('Name of the rating.'),
                      value: z.number().describe('The rating.'),
                    }),
                  )
                  .describe('Ratings that were given.'),
              }),
            )
            .describe('Feedback of users and monitors.'),
        }),
      )
      .describe('The requested conversations that have spans.'),
  })
  .meta({ id: 'ConversationSpans', description: 'The spans of conversations.' })
export type ConversationSpans = z.infer<typeof ConversationSpans>
