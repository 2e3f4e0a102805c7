/** Conversations of agents, whose spans name them, the latest first. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { z } from 'zod'
import type { AgentSpanGroup } from '../../schemas/agents/agent-spans.ts'
import { requestJson } from '../api/client.ts'
import { isThere } from '../calls/search/conditions.ts'
import { formatCost, formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { RelativeTime } from '../parts/time/relative-time.ts'
import { pathTo } from '../shell/page-route.ts'

type Group = z.infer<typeof AgentSpanGroup>

/** Conversations shown at first, and added by each click on "more"; and the limit of all. */
const STEP = 50
const CONVERSATIONS_MAX = 1000

interface Groups {
  readonly groups: readonly Group[]
  readonly total_count: number
}

function readConversations(
  project_id: string,
  limit: number,
  signal: AbortSignal,
): Promise<Groups> {
  const body = {
    project_id,
    query: { $expr: isThere('conversation_id') },
    group_by: [{ key: 'conversation_id' }],
    measures: [{ alias: 'turns', aggregation: 'count_distinct', value: { key: 'trace_id' } }],
    include_costs: true,
    sort_by: [{ field: 'last_seen', direction: 'desc' }],
    limit,
  }
  return requestJson<Groups>('/agents/spans/query', body, { signal })
}

export function AgentConversations({ project }: { readonly project: string }) {
  const [limit, setLimit] = useState(STEP)
  const read = useLoad(project, (signal) => readConversations(project, limit, signal), limit)
  if (read.value === null)
    return html`<${Failure} words=${read.failure} />${read.isLoading && html`<${Loading} />`}`
  const { groups, total_count } = read.value
  if (groups.length === 0)
    return html`<p class="notice">No conversations of agents yet: spans of OpenTelemetry with the attribute
      <code>gen_ai.conversation.id</code> make one.</p>`
  return html`<${Failure} words=${read.failure} />
    <div class="scroll" tabindex="0"><table class="list" aria-label="Conversations of agents">
      <thead><tr>
        <th scope="col">First message</th><th scope="col">Conversation</th><th scope="col">Agents</th>
        <th scope="col" class="number">Turns</th><th scope="col">Last span</th><th scope="col" class="number">Errors</th>
        <th scope="col" class="number">Tokens</th><th scope="col" class="number">Cost</th>
      </tr></thead>
      <tbody>${groups.map((group) => html`<${GroupRow} key=${group.group_keys.conversation_id} project=${project} group=${group} />`)}</tbody>
    </table></div>
    ${total_count > groups.length && limit < CONVERSATIONS_MAX && html`<button onClick=${() => setLimit(limit + STEP)}>More conversations</button>`}`
}

function GroupRow({ project, group }: { readonly project: string; readonly group: Group }) {
  const id = String(group.group_keys.conversation_id)
  const name = group.conversation_names[0] ?? id
  const tokens = Number(group.total_input_tokens) + Number(group.total_output_tokens)
  return html`<tr>
    <td class="wrap thread-first"><a href=${`${pathTo(project, 'threads', id)}?kind=agents`}>${group.first_message?.text || name}</a></td>
    <td class="thread-name faint" title=${id}>${name}</td>
    <td class="wrap">${group.agent_names.join(', ')}</td>
    <td class="number">${formatCount(Number(group.metrics.turns))}</td>
    <td>${group.last_seen !== null && html`<${RelativeTime} at=${group.last_seen} />`}</td>
    <td class="number">${Number(group.error_count) > 0 && formatCount(Number(group.error_count))}</td>
    <td class="number">${tokens > 0 && formatCount(tokens)}</td>
    <td class="number">${formatCost(group.total_cost_usd)}</td>
  </tr>`
}
