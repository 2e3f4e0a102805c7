/** Turns and conversations of agents. Additions to the spec, as the tracing SDKs ask for them. */
import { requireAccess } from '../../domain/access/permissions.ts'
import { addUsd } from '../../domain/agents/span-costs.ts'
import { resolveScope } from '../../domain/agents/span-scope.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  ConversationChat,
  ConversationChatRequest,
  ConversationSpans,
  ConversationSpansRequest,
  TraceChat,
  TraceChatRequest,
  TURNS_MAX,
} from '../../schemas/agents/agent-chat.ts'
import type { AgentRoutesOptions } from './agents.ts'

export interface AgentChatRoutesOptions extends AgentRoutesOptions {
  /** Scheme of the refs under which feedback is looked for. */
  readonly refScheme: string
}

const tags = ['agents']

export async function agentChatRoutes(app: App, options: AgentChatRoutesOptions): Promise<void> {
  addTraceChat(app, options)
  addConversationChat(app, options)
  addConversationSpans(app, options)
}

function addTraceChat(app: App, { agents, prices, refScheme }: AgentChatRoutesOptions): void {
  app.post(
    '/agents/traces/chat',
    {
      schema: {
        tags,
        operationId: 'getTraceChat',
        summary: 'The spans of a trace as a chat (addition to the spec).',
        body: TraceChatRequest,
        response: { 200: TraceChat },
      },
    },
    async (request, reply) => {
      const { project_id, trace_id, include_feedback, include_model_tool_calls } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const caller = openReadCaller(request, reply, project_id)
      const query = {
        ...{ project_id, of: { trace_id }, refScheme },
        withFeedback: include_feedback ?? false,
        withModelToolCalls: include_model_tool_calls ?? false,
        prices: await prices.listPrices(project_id),
      }
      const [turn] = (await agents.readTurns(query, caller)).turns
      if (!turn) throw new ApiError('trace_not_found')
      return turn
    },
  )
}

function addConversationChat(
  app: App,
  { agents, prices, refScheme }: AgentChatRoutesOptions,
): void {
  app.post(
    '/agents/conversations/chat',
    {
      schema: {
        tags,
        operationId: 'getConversationChat',
        summary: 'The turns of a conversation as chats (addition to the spec).',
        body: ConversationChatRequest,
        response: { 200: ConversationChat },
      },
    },
    async (request, reply) => {
      const { project_id, conversation_id, include_feedback, ...body } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const caller = openReadCaller(request, reply, project_id)
      const page = { offset: body.offset ?? 0, limit: body.limit ?? TURNS_MAX }
      const query = {
        ...{ project_id, of: { conversation_id, ...page }, refScheme },
        withFeedback: include_feedback ?? false,
        withModelToolCalls: body.include_model_tool_calls ?? false,
        prices: await prices.listPrices(project_id),
      }
      const { turns, total, feedback } = await agents.readTurns(query, caller)
      return {
        conversation_id,
        turns: [...turns],
        total_turns: total,
        has_more: page.offset + page.limit < total,
        ...page,
        total_cost_usd: turns.reduce(
          (sum: number | null, { total_cost_usd }) => addUsd(sum, total_cost_usd),
          null,
        ),
        feedback: feedback && [...feedback],
      }
    },
  )
}

function addConversationSpans(app: App, { agents, refScheme }: AgentChatRoutesOptions): void {
  app.post(
    '/agents/conversations/spans',
    {
      schema: {
        tags,
        operationId: 'listConversationSpans',
        summary: 'The spans of conversations, in short (addition to the spec).',
        body: ConversationSpansRequest,
        response: { 200: ConversationSpans },
      },
    },
    async (request, reply) => {
      const { project_id, conversation_ids, ...times } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const { startedUs } = resolveScope({ project_id, ...times })
      const caller = openReadCaller(request, reply, project_id)
      const asked = { project_id, conversation_ids: conversation_ids ?? [], startedUs, refScheme }
      return agents.listConversationSpans(asked, caller)
    },
  )
}
