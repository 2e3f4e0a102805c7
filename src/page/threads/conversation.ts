/** A thread as a conversation: its turns in order, each with a link to its trace. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestJson, requestLines } from '../api/client.ts'
import type { Call, Usage, UsageSummary } from '../api/wire.ts'
import { isTurn } from '../calls/search/conditions.ts'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import { AgentConversation } from './agent-conversation.ts'
import { Turn } from './turn.ts'
import { readSteps } from './turn-steps.ts'

/** Turns per page. */
const PAGE_TURNS = 50

interface Turns {
  readonly count: number
  readonly first: number
  readonly calls: readonly Call[]
}

/** @param page - from 0; null for the last one */
async function readTurns(
  project_id: string,
  thread: string,
  page: number | null,
  signal: AbortSignal,
): Promise<Turns> {
  const which = { project_id, filter: { thread_ids: [thread] }, query: { $expr: isTurn } }
  const { count } = await requestJson<{ count: number }>('/calls/query_stats', which, { signal })
  const last = Math.max(0, Math.ceil(count / PAGE_TURNS) - 1)
  const first = Math.min(page ?? last, last) * PAGE_TURNS
  const wanted = { ...which, offset: first, limit: PAGE_TURNS, include_feedback: true }
  const calls = await Array.fromAsync(requestLines<Call>('/calls/stream_query', wanted, { signal }))
  return { count, first, calls }
}

async function readUsage(
  project_id: string,
  calls: readonly Call[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, Usage>>> {
  if (calls.length === 0) return {}
  const body = { project_id, call_ids: calls.map(({ id }) => id), include_costs: true }
  return (await requestJson<UsageSummary>('/calls/usage', body, { signal })).call_usage
}

/** As in the address, where the first page is 1; null for the last one. */
function pageInAddress(): number | null {
  const page = Number(query.value.get('page'))
  return Number.isSafeInteger(page) && page > 0 ? page - 1 : null
}

const goToPage = (page: number) => setQuery({ page: String(page + 1) }, { isStep: true })

export function Conversation({ project, subject }: ViewProps) {
  const thread = subject ?? ''
  return query.value.get('kind') === 'agents'
    ? html`<${AgentConversation} project=${project} id=${thread} />`
    : html`<${ThreadConversation} project=${project} thread=${thread} />`
}

interface ThreadConversationProps {
  readonly project: string
  readonly thread: string
}

function ThreadConversation({ project, thread }: ThreadConversationProps) {
  const page = pageInAddress()
  const [turn, reload] = useState(0)
  const turns = useLoad(
    thread,
    async (signal) => ({ ...(await readTurns(project, thread, page, signal)), turn }),
    // If a page fails to load, the previous one stays, labelled as such.
    `${page} ${turn}`,
  )
  const calls = turns.value?.calls ?? []
  const ids = calls.map(({ id }) => id).join(' ')
  // Of the same turns again: one that has not ended may have called more.
  const usage = useLoad(ids, (signal) => readUsage(project, calls, signal), turns.value?.turn)
  const steps = useLoad(ids, (signal) => readSteps(project, calls, signal), turns.value?.turn)
  if (turns.value === null)
    return html`<section class="conversation"><${Pending} title=${thread} loaded=${turns} /></section>`
  const { count, first } = turns.value
  if (count === 0) return html`<${AgentConversation} project=${project} id=${thread} />`
  const at = Math.floor(first / PAGE_TURNS)
  return html`<section class="conversation" aria-label="Conversation">
    <h1>${thread}</h1>
    <div class="bar">
      <b>${formatCount(count)} ${count === 1 ? 'turn' : 'turns'}</b>
      <a href=${`${pathTo(project, 'calls')}?all=1&thread=${encodeURIComponent(thread)}`}>all calls of the thread</a>
      <span class="push"></span>
      <button onClick=${() => reload((last) => last + 1)}>Refresh</button>
    </div>
    <${Failure} words=${turns.failure ?? usage.failure ?? steps.failure} />
    ${at > 0 && html`<button onClick=${() => goToPage(at - 1)}>Earlier turns</button>`}
    ${calls.map((call) => html`<${Turn} key=${call.id} project=${project} call=${call} usage=${usage.value?.[call.id]} steps=${steps.value?.get(call.id) ?? []} onChange=${() => reload((last) => last + 1)} />`)}
    ${first + calls.length < count && html`<button onClick=${() => goToPage(at + 1)}>Later turns</button>`}
  </section>`
}
