/** A conversation of agents as one chat: what was said, and folded between it what agents and tools did. */
import { html } from 'htm/preact'
import type { z } from 'zod'
import type { ChatMessage, ConversationChat, TraceChat } from '../../schemas/agents/agent-chat.ts'
import { requestJson } from '../api/client.ts'
import { summaryOf } from '../parts/calls/feedback-summary.ts'
import { formatCost, formatCount, formatMs, formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { icon } from '../parts/icon.ts'
import { MessageItem, parsed } from '../parts/messages/message-list.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { JsonTree } from '../parts/values/json-tree.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'

/** Turns per page. */
const PAGE_TURNS = 20

type Chat = z.infer<typeof ConversationChat>

/** Newer turns that the page leaves out, as in the address. */
function skippedInAddress(): number {
  const skipped = Number(query.value.get('skip'))
  return Number.isSafeInteger(skipped) && skipped > 0 ? skipped : 0
}

const skip = (turns: number) =>
  setQuery({ skip: turns > 0 ? String(turns) : null }, { isStep: true })

interface AgentConversationProps {
  readonly project: string
  readonly id: string
}

export function AgentConversation({ project, id }: AgentConversationProps) {
  const offset = skippedInAddress()
  const read = (signal: AbortSignal) => {
    const body = { project_id: project, conversation_id: id, offset, limit: PAGE_TURNS }
    const asked = { ...body, include_feedback: true }
    return requestJson<Chat>('/agents/conversations/chat', asked, { signal })
  }
  const chat = useLoad(id, read, offset)
  if (chat.value === null)
    return html`<section class="conversation"><${Pending} title=${id} loaded=${chat} /></section>`
  const { turns, total_turns, has_more, feedback } = chat.value
  return html`<section class="conversation" aria-label="Conversation">
    <h1>${id}</h1>
    <div class="bar">
      <b>${formatCount(Number(total_turns))} ${Number(total_turns) === 1 ? 'turn' : 'turns'}</b>
      <span class="faint">${summaryOf(feedback ?? [])}</span>
      <a href=${`${pathTo(project, 'calls')}?all=1&thread=${encodeURIComponent(id)}`}>all calls of the conversation</a>
    </div>
    <${Failure} words=${chat.failure} />
    ${turns.length === 0 && html`<p class="notice">This conversation has no turns: no call of it has its own id as its turn, and no span of an agent belongs to it.</p>`}
    ${has_more && html`<button onClick=${() => skip(offset + PAGE_TURNS)}>Earlier turns</button>`}
    ${turns.map((turn) => html`<${AgentTurn} key=${turn.trace_id} project=${project} turn=${turn} />`)}
    ${offset > 0 && html`<button onClick=${() => skip(offset - PAGE_TURNS)}>Later turns</button>`}
  </section>`
}

interface AgentTurnProps {
  readonly project: string
  readonly turn: TraceChat
}

function AgentTurn({ project, turn }: AgentTurnProps) {
  const tokens = Number(turn.total_input_tokens) + Number(turn.total_output_tokens)
  const span = turn.messages.find(({ span_id }) => span_id !== null)?.span_id ?? null
  const trace = `${pathTo(project, 'calls')}?all=1&q=${encodeURIComponent(`trace:${JSON.stringify(turn.trace_id)}`)}`
  return html`<article class="turn">
    <ol class="messages">${turn.messages.map((message, at) => html`<${Step} key=${at} message=${message} />`)}</ol>
    <footer class="bar faint">
      ${turn.status_code === 'ERROR' && html`<span class="status error">error</span>`}
      <span>${turn.agent_name}</span>
      <span>${turn.started_at !== null && formatTime(turn.started_at, false)}</span>
      <span>${formatMs(turn.total_duration_ms === null ? null : Number(turn.total_duration_ms))}</span>
      ${tokens > 0 && html`<span>${formatCount(tokens)} tokens</span>`}
      <span>${formatCost(turn.total_cost_usd)}</span>
      <span>${summaryOf(turn.feedback ?? [])}</span>
      <a href=${span === null ? trace : pathTo(project, 'calls', span)}>trace</a>
    </footer>
  </article>`
}

function Step({ message }: { readonly message: ChatMessage }) {
  const { user_message: asked, assistant_message: said, tool_call: tool } = message
  if (asked) return html`<${MessageItem} message=${{ role: 'user', content: asked.text }} />`
  if (said) {
    const { text, reasoning_content } = said
    return html`<${MessageItem} message=${{ role: 'assistant', content: text, reasoning_content }} />`
  }
  if (tool) return html`<${ToolRun} tool=${tool} error=${message.status_message} />`
  const { agent_name, context_compacted, type } = message
  const words = {
    agent_start: `${agent_name ?? 'an agent'} begins`,
    agent_handoff: `handed over to ${agent_name ?? 'another agent'}`,
    context_compacted: `the context was compacted: ${context_compacted?.compaction_summary ?? ''}`,
  }
  return html`<li class="turn-step faint">${icon('bot')} ${words[type as keyof typeof words] ?? type}</li>`
}

interface ToolRunProps {
  readonly tool: NonNullable<ChatMessage['tool_call']>
  readonly error: string | null
}

function ToolRun({ tool, error }: ToolRunProps) {
  const { tool_name, tool_arguments, tool_result, duration_ms, status } = tool
  return html`<li class="turn-step"><details>
    <summary>${icon('wrench')} <b>${tool_name ?? 'a tool'}</b> <span class="faint">${formatMs(duration_ms === null ? null : Number(duration_ms))}</span>${status === 'ERROR' && html` <span class="status error">error</span>`}</summary>
    <${JsonTree} name="arguments" value=${parsed(tool_arguments)} />
    <${JsonTree} name="result" value=${parsed(tool_result)} />
    ${error !== null && html`<p class="failure">${error}</p>`}
  </details></li>`
}
