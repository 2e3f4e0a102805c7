/** Turns and conversations of agents. Additions to the spec, in the format of the tracing SDKs. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import {
  addFeedback,
  conversationRef,
  type FeedbackByRef,
  readSignal,
  refsOfTurn,
  renderChatFeedback,
  turnRef,
} from '../../domain/agents/chat-feedback.ts'
import { addUsd } from '../../domain/agents/span-costs.ts'
import { resolveScope } from '../../domain/agents/span-scope.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import {
  type ChatFeedback,
  ConversationChat,
  ConversationChatRequest,
  ConversationSpans,
  ConversationSpansRequest,
  TraceChat,
  TraceChatRequest,
  TURNS_MAX,
} from '../../schemas/agents/agent-chat.ts'
import type { FeedbackStore } from '../../store/api/feedback/feedback.ts'
import type { Stores } from '../../store/api/stores.ts'
import type { AgentRoutesOptions } from './agents.ts'

interface AgentChatRoutesOptions extends AgentRoutesOptions, Pick<Stores, 'feedback'> {
  /** Scheme of the refs by which feedback is found. */
  readonly refScheme: string
}

const tags = ['agents']

/** Limit: feedback of one response, and refs of one read. */
const FEEDBACK_MAX = 10_000
const REFS_AT_ONCE = 100

export async function agentChatRoutes(app: App, options: AgentChatRoutesOptions): Promise<void> {
  addTraceChat(app, options)
  addConversationChat(app, options)
  addConversationSpans(app, options)
}

function addTraceChat(
  app: App,
  { agents, prices, feedback, refScheme }: AgentChatRoutesOptions,
): void {
  addProjectRead(
    app,
    '/agents/traces/chat',
    {
      tags,
      operationId: 'getTraceChat',
      summary: 'Read the spans of a trace as a chat (addition to the spec).',
      body: TraceChatRequest,
      response: TraceChat,
    },
    async ({ project_id, trace_id, include_feedback, include_model_tool_calls }, caller) => {
      const query = {
        project_id,
        of: { trace_id },
        withModelToolCalls: include_model_tool_calls ?? false,
        prices: await prices.listPrices(project_id),
      }
      const [turn] = (await agents.read('turns', query, caller)).turns
      if (!turn) throw new ApiError('trace_not_found')
      if (!include_feedback) return turn
      const base = { refScheme, project_id }
      const about = await findChatFeedback(feedback, refsOfTurn(base, turn), caller)
      return addFeedback(base, turn, about)
    },
  )
}

function addConversationChat(
  app: App,
  { agents, prices, feedback, refScheme }: AgentChatRoutesOptions,
): void {
  addProjectRead(
    app,
    '/agents/conversations/chat',
    {
      tags,
      operationId: 'getConversationChat',
      summary: 'Read the turns of a conversation as chats (addition to the spec).',
      body: ConversationChatRequest,
      response: ConversationChat,
    },
    async ({ project_id, conversation_id, include_feedback, ...body }, caller) => {
      const page = { offset: body.offset ?? 0, limit: body.limit ?? TURNS_MAX }
      const query = {
        project_id,
        of: { conversation_id, ...page },
        withModelToolCalls: body.include_model_tool_calls ?? false,
        prices: await prices.listPrices(project_id),
      }
      const { turns, total } = await agents.read('turns', query, caller)
      const base = { refScheme, project_id }
      const own = conversationRef(refScheme, project_id, conversation_id)
      const refs = [own, ...turns.flatMap((turn) => refsOfTurn(base, turn))]
      const about = include_feedback ? await findChatFeedback(feedback, refs, caller) : null
      return {
        conversation_id,
        turns: turns.map((turn) => (about ? addFeedback(base, turn, about) : turn)),
        total_turns: total,
        has_more: page.offset + page.limit < total,
        ...page,
        total_cost_usd: turns.reduce(
          (sum: number | null, { total_cost_usd }) => addUsd(sum, total_cost_usd),
          null,
        ),
        feedback: about && [...(about.get(own) ?? [])],
      }
    },
  )
}

function addConversationSpans(
  app: App,
  { agents, feedback, refScheme }: AgentChatRoutesOptions,
): void {
  addProjectRead(
    app,
    '/agents/conversations/spans',
    {
      tags,
      operationId: 'listConversationSpans',
      summary: 'Read the spans of conversations in brief (addition to the spec).',
      body: ConversationSpansRequest,
      response: ConversationSpans,
    },
    async ({ project_id, conversation_ids, ...times }, caller) => {
      const { startedUs } = resolveScope({ project_id, ...times })
      const query = { project_id, conversation_ids: conversation_ids ?? [], startedUs }
      const found = await agents.read('conversations', query, caller)
      const refsOf = ({ conversation_id, trace_ids }: (typeof found)[number]) => [
        conversationRef(refScheme, project_id, conversation_id),
        ...trace_ids.map((id) => turnRef(refScheme, project_id, id)),
      ]
      const about = await findChatFeedback(feedback, found.flatMap(refsOf), caller)
      return {
        conversations: found.map((conversation) => ({
          conversation_id: conversation.conversation_id,
          spans: [...conversation.spans],
          spans_feedback: refsOf(conversation).flatMap((ref, at) =>
            (about.get(ref) ?? []).flatMap((row) =>
              readSignal(row, conversation.trace_ids[at - 1] ?? null),
            ),
          ),
        })),
      }
    },
  )
}

/** Finds feedback by its refs. @throws ApiError validation_failed for more than one response can hold */
export async function findChatFeedback(
  feedback: FeedbackStore,
  refs: readonly string[],
  caller: ReadCaller,
): Promise<FeedbackByRef> {
  const found = new Map<string, ChatFeedback[]>()
  let count = 0
  for (let at = 0; at < refs.length; at += REFS_AT_ONCE) {
    const some = refs.slice(at, at + REFS_AT_ONCE)
    for (const [index, rows] of (await feedback.listAbout(some, caller)).entries()) {
      count += rows.length
      if (count > FEEDBACK_MAX) throw tooMany()
      if (rows.length > 0) found.set(some[index] ?? '', rows.map(renderChatFeedback))
    }
  }
  return found
}

function tooMany(): ApiError {
  const message = `There is more feedback than the ${FEEDBACK_MAX} that one response can hold: ask for fewer turns or conversations.`
  return new ApiError('validation_failed', { message })
}
