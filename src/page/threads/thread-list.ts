/** Threads: calls with the same `thread_id`, the latest first. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestLines } from '../api/client.ts'
import type { Thread } from '../api/wire.ts'
import { formatCost, formatCount, formatMs } from '../parts/format.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { RelativeTime } from '../parts/time/relative-time.ts'
import { pathTo } from '../shell/page-route.ts'
import { averageScores, readThreadFacts, type ThreadFacts } from './thread-facts.ts'

/** Threads shown at first, and added by each click on "more". */
const STEP = 50

/** The threads that were updated last. @param thread_ids - only these; all when empty */
export async function readThreads(
  project_id: string,
  limit: number,
  signal: AbortSignal,
  thread_ids: readonly string[] = [],
): Promise<Thread[]> {
  const body = {
    project_id,
    filter: { thread_ids },
    limit,
    sort_by: [{ field: 'last_updated', direction: 'desc' }],
  }
  return Array.fromAsync(requestLines<Thread>('/threads/stream_query', body, { signal }))
}

export function ThreadList({ project }: { readonly project: string }) {
  const [limit, setLimit] = useState(STEP)
  // One more than shown, to know whether there are more.
  const threads = useLoad(project, (signal) => readThreads(project, limit + 1, signal), limit)
  if (threads.value === null)
    return html`<${Failure} words=${threads.failure} />${threads.isLoading && html`<${Loading} />`}`
  if (threads.value.length === 0) return html`<${NoThread} />`
  return html`<${Failure} words=${threads.failure} />
    <${ThreadTable} project=${project} threads=${threads.value.slice(0, limit)} />
    ${threads.value.length > limit && html`<button onClick=${() => setLimit(limit + STEP)}>More threads</button>`}`
}

interface ThreadRowsProps {
  readonly project: string
  readonly threads: readonly Thread[]
}

export function ThreadTable({ project, threads }: ThreadRowsProps) {
  const steps = Array.from({ length: Math.ceil(threads.length / STEP) }, (_, at) =>
    threads.slice(at * STEP, (at + 1) * STEP),
  )
  return html`<div class="scroll" tabindex="0"><table class="list" aria-label="Threads">
      <thead><tr>
        <th scope="col">First message</th><th scope="col">Thread</th><th scope="col">User</th>
        <th scope="col" class="number">Turns</th><th scope="col">Last turn</th><th scope="col" class="number">Median of a turn</th>
        <th scope="col" class="number">Tokens</th><th scope="col" class="number">Cost</th><th scope="col">Scores</th>
      </tr></thead>
      <tbody>${steps.map((some) => html`<${ThreadRows} key=${some[0]?.thread_id} project=${project} threads=${some} />`)}</tbody>
    </table></div>`
}

/** A part of the list. What is not in the list of threads itself is read for each part once. */
function ThreadRows({ project, threads }: ThreadRowsProps) {
  const name = threads.map(({ thread_id, last_updated }) => `${thread_id} ${last_updated}`).join()
  const facts = useLoad(name, (signal) => readThreadFacts(project, threads, signal))
  return html`${facts.failure !== null && html`<tr><td colspan="9"><${Failure} words=${facts.failure} /></td></tr>`}
    ${threads.map((thread) => html`<${ThreadRow} key=${thread.thread_id} project=${project} thread=${thread} facts=${facts} />`)}`
}

interface ThreadRowProps {
  readonly project: string
  readonly thread: Thread
  readonly facts: Loaded<ReadonlyMap<string, ThreadFacts>>
}

function ThreadRow({ project, thread, facts }: ThreadRowProps) {
  const { thread_id, turn_count, last_updated, p50_turn_duration_ms } = thread
  const own = facts.value?.get(thread_id)
  // Of a long thread only some turns are summed up.
  const atLeast = own !== undefined && own.turns < turn_count ? '≥ ' : ''
  const first = own?.first ?? (facts.isLoading ? '…' : '')
  const scores = own === undefined ? '' : averageScores(own.feedback)
  return html`<tr>
    <td class="wrap thread-first"><a href=${pathTo(project, 'threads', thread_id)}>${first === '' ? thread_id : first}</a></td>
    <td class="thread-name faint" title=${thread_id}>${thread_id}</td>
    <td class="thread-name" title=${own?.user}>${own?.user}</td>
    <td class="number">${formatCount(turn_count)}</td>
    <td><${RelativeTime} at=${last_updated} /></td>
    <td class="number">${formatMs(p50_turn_duration_ms)}</td>
    <td class="number">${own !== undefined && own.tokens > 0 && `${atLeast}${formatCount(own.tokens)}`}</td>
    <td class="number">${own !== undefined && own.cost !== null && `${atLeast}${formatCost(own.cost)}`}</td>
    <td class="wrap thread-scores"><div title=${scores}>${scores}</div></td>
  </tr>`
}

function NoThread() {
  return html`<section class="first">
    <h2>No threads yet</h2>
    <p>A thread is a conversation: calls with the same <code>thread_id</code>. Each call whose <code>turn_id</code> is its own id is
      a turn. With the Weave SDK:</p>
    <pre tabindex="0">${'with weave.thread("customer-17"):\n    answer("Why?")\n    answer("And then?")'}</pre>
  </section>`
}
