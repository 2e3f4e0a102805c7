/** The conversations of a project: threads of calls, and what agents have recorded as spans. */
import { html } from 'htm/preact'
import { query, setQuery } from '../shell/location.ts'
import type { ViewProps } from '../shell/page-route.ts'
import { AgentConversations } from './agent-conversations.ts'
import { ThreadList } from './thread-list.ts'

const KINDS = { calls: 'Threads of calls', agents: 'Agents' } as const

export function Threads({ project }: ViewProps) {
  const kind = query.value.get('kind') === 'agents' ? 'agents' : 'calls'
  const choose = (name: string) =>
    setQuery({ kind: name === 'agents' ? name : null }, { isStep: true })
  const List = kind === 'agents' ? AgentConversations : ThreadList
  return html`<h1>Conversations</h1>
    <div class="bar"><div class="segments" role="group" aria-label="Conversations of">
      ${Object.entries(KINDS).map(([name, label]) => html`<button key=${name} aria-pressed=${name === kind} onClick=${() => choose(name)}>${label}</button>`)}
    </div></div>
    <${List} key=${project} project=${project} />`
}
