/** Search in the messages of spans. Pure. */
import { createHash } from 'node:crypto'
import type { AgentSearchRequest, AgentSearchResponse } from '../../schemas/agents/agent-search.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { type AgentSpan, textColumn } from './agent-span.ts'
import { createBudget } from './groups/span-measures.ts'
import { readSpanMessages } from './span-messages.ts'

const PREVIEW_CHARS_MAX = 500
/** Limit: characters of messages in one response that does not cut them. */
const RESPONSE_CHARS_MAX = 32 * 1024 * 1024

export interface MessageSearch {
  /** In lower case; empty: all messages match. */
  readonly text: string
  /** null: any. */
  readonly roles: readonly string[] | null
  readonly isCut: boolean
  readonly offset: number
  readonly limit: number
}

export function resolveSearch(request: AgentSearchRequest, limitDefault: number): MessageSearch {
  const { roles } = request
  return {
    text: (request.query ?? '').toLowerCase(),
    roles: roles && roles.length > 0 ? roles : null,
    isCut: request.truncate_content ?? true,
    offset: request.offset ?? 0,
    limit: request.limit ?? limitDefault,
  }
}

type Conversation = AgentSearchResponse['results'][number]

/** A search, to which spans are added from the newest on. @throws ApiError validation_failed for too many matches */
export function createMessageSearch({ text, roles, isCut, offset, limit }: MessageSearch) {
  const budget = createBudget()
  const characters = createBudget(RESPONSE_CHARS_MAX)
  const matching = new Set<string>()
  const shown = new Map<string, Conversation>()
  let count = 0

  function keep(span: AgentSpan, role: string, content: string): void {
    const id = textColumn(span, 'conversation_id') ?? ''
    if (!matching.has(id)) {
      budget.take()
      matching.add(id)
    }
    const index = count
    count += 1
    if (index < offset || index >= offset + limit) return
    const conversation = shown.get(id) ?? openConversation(span, id)
    shown.set(id, conversation)
    conversation.matched_messages.push({
      span_id: span.call.id,
      trace_id: span.call.trace_id,
      role,
      content_preview: isCut ? content.slice(0, PREVIEW_CHARS_MAX).toWellFormed() : content,
      content_digest: createHash('sha256').update(content).digest('hex'),
      started_at: renderTimestamp(span.call.started_at_us),
    })
    if (!isCut) characters.take(content.length)
  }

  return {
    add(span: AgentSpan): void {
      for (const [role, content] of occurrences(span)) {
        if (content === '' || (roles !== null && !isAmong(roles, role))) continue
        if (content.toLowerCase().includes(text)) keep(span, role, content)
      }
    },
    result: (): AgentSearchResponse => ({
      results: [...shown.values()],
      total_conversations: matching.size,
    }),
  }
}

/** `tool` is all of tools: their messages, arguments and results. */
function isAmong(roles: readonly string[], role: string): boolean {
  return roles.includes(role) || (role.startsWith('tool_') && roles.includes('tool'))
}

function openConversation(span: AgentSpan, conversation_id: string): Conversation {
  return {
    conversation_id,
    conversation_name: textColumn(span, 'conversation_name') ?? '',
    agent_name: textColumn(span, 'agent_name') ?? '',
    last_activity: renderTimestamp(span.call.started_at_us),
    matched_messages: [],
  }
}

function* occurrences(span: AgentSpan): Generator<readonly [role: string, content: string]> {
  const { input, output } = readSpanMessages(span)
  for (const { role, content } of [...input, ...output]) yield [role, content]
  yield ['tool_call', textColumn(span, 'tool_call_arguments') ?? '']
  yield ['tool_result', textColumn(span, 'tool_call_result') ?? '']
}
