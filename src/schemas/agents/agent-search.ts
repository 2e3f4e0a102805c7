/** Search in the messages of agents, on the wire. Additions to the spec. */
import { z } from 'zod'
import { ClientId, nameOf, Time } from '../primitives.ts'
import { count, limitOf, offset, project_id, started_after, started_before } from './span-values.ts'

export const SEARCH_LIMIT = 20
const SEARCH_LIMIT_MAX = 1000
const QUERY_CHARS_MAX = 1024

const SEARCH_ROLES = [
  '',
  'user',
  'assistant',
  'system',
  'tool',
  'tool_call',
  'tool_result',
] as const

export const AgentSearchRequest = z
  .strictObject({
    project_id,
    query: z
      .string()
      .max(QUERY_CHARS_MAX)
      .nullish()
      .describe('Text that the messages contain, ignoring case; all messages when empty.'),
    agent_name: nameOf(1024).nullish().describe('Only messages of this agent.'),
    conversation_id: ClientId.nullish().describe('Only messages of this conversation.'),
    trace_id: ClientId.nullish().describe('Only messages of this trace.'),
    provider_name: nameOf(1024)
      .nullish()
      .describe('Only messages to and from models of this provider.'),
    request_model: nameOf(1024).nullish().describe('Only messages to and from this model.'),
    roles: z
      .array(z.enum(SEARCH_ROLES))
      .max(SEARCH_ROLES.length)
      .nullish()
      .describe(
        'Only messages of these roles; `tool` is messages, arguments and results of tools.',
      ),
    started_after,
    started_before,
    truncate_content: z
      .boolean()
      .nullish()
      .describe('Whether messages are cut to 500 characters. Default true.'),
    limit: limitOf(SEARCH_LIMIT, SEARCH_LIMIT_MAX).describe('Maximum number of messages.'),
    offset: offset.describe('Number of messages to skip.'),
  })
  .meta({ id: 'AgentSearchRequest', description: 'Which messages.' })
export type AgentSearchRequest = z.infer<typeof AgentSearchRequest>

export const AgentSearchResponse = z.object({
  results: z
    .array(
      z.object({
        conversation_id: z
          .string()
          .describe('The conversation; empty for messages outside of conversations.'),
        conversation_name: z.string().describe('Its name; empty when unknown.'),
        agent_name: z.string().describe('Agent of its newest message.'),
        last_activity: Time.describe('Start of the newest span with a match.'),
        matched_messages: z
          .array(
            z.object({
              span_id: z.string().describe('Span of the message.'),
              trace_id: z.string().describe('Trace of the span.'),
              role: z.string().describe('Role of the sender.'),
              content_preview: z.string().describe('Beginning of the text.'),
              content_digest: z.string().describe('SHA-256 of the message, in hex.'),
              started_at: Time.describe('When the span began.'),
            }),
          )
          .describe('Messages of the page.'),
      }),
    )
    .describe('Conversations with the messages of the page, newest first.'),
  total_conversations: count('Conversations with a match.'),
})
export type AgentSearchResponse = z.infer<typeof AgentSearchResponse>
