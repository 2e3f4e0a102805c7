/** The conversations of a project. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestLines } from '../api/client.ts'
import type { Thread } from '../api/wire.ts'
import { formatCount, formatMs, formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'

/** Threads shown at first, and added by each click on "more". */
const STEP = 200

async function readThreads(
  project_id: string,
  limit: number,
  signal: AbortSignal,
): Promise<Thread[]> {
  const body = { project_id, limit, sort_by: [{ field: 'last_updated', direction: 'desc' }] }
  const threads: Thread[] = []
  for await (const thread of requestLines<Thread>('/threads/stream_query', body, { signal }))
    threads.push(thread)
  return threads
}

export function Threads({ project }: ViewProps) {
  const [limit, setLimit] = useState(STEP)
  // One more than shown, to know whether there are more.
  const threads = useLoad(project, (signal) => readThreads(project, limit + 1, signal), limit)
  if (threads.value === null) return html`<${Pending} title="Threads" loaded=${threads} />`
  if (threads.value.length === 0) return html`<h1>Threads</h1><${NoThread} />`
  return html`<h1>Threads</h1>
    <${Failure} words=${threads.failure} />
    <div class="scroll" tabindex="0"><table class="list">
      <thead><tr>
        <th scope="col">Thread</th><th scope="col" class="number">Turns</th><th scope="col">Last turn</th>
        <th scope="col">First turn</th><th scope="col" class="number">Median of a turn</th><th scope="col" class="number">p99</th>
      </tr></thead>
      <tbody>
        ${threads.value.slice(0, limit).map((thread) => html`<${ThreadRow} key=${thread.thread_id} project=${project} thread=${thread} />`)}
      </tbody>
    </table></div>
    ${threads.value.length > limit && html`<button onClick=${() => setLimit(limit + STEP)}>More threads</button>`}`
}

interface ThreadRowProps {
  readonly project: string
  readonly thread: Thread
}

function ThreadRow({ project, thread }: ThreadRowProps) {
  return html`<tr>
    <td class="wrap"><a href=${pathTo(project, 'threads', thread.thread_id)}>${thread.thread_id}</a></td>
    <td class="number">${formatCount(thread.turn_count)}</td>
    <td>${formatTime(thread.last_updated, false)}</td>
    <td>${formatTime(thread.start_time, false)}</td>
    <td class="number">${formatMs(thread.p50_turn_duration_ms)}</td>
    <td class="number">${formatMs(thread.p99_turn_duration_ms)}</td>
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
