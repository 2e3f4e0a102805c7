/** Adds the newest calls of the search, or the selected ones, to a queue for rating. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestJson, requestLines } from '../../api/client.ts'
import type { Queue } from '../../api/wire.ts'
import { formatCalls } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../../parts/hooks/use-submit.ts'
import { Menu } from '../../parts/overlay/menu.ts'
import { pathTo } from '../../shell/page-route.ts'
import { groupsOf, readSelectedIds } from '../selection/selected-calls.ts'
import type { Target } from '../selection/selected-query.ts'
import { EVERYTHING, isEmpty } from '../selection/selection.ts'

/** Limit: calls added at once, the maximum of one request. */
const CALLS_MAX = 1000
const CALLS_DEFAULT = '100'

interface AddToQueueProps {
  readonly target: Target
}

export function AddToQueue(props: AddToQueueProps) {
  return html`<${Menu} words="Add to a queue"><${Choice} ...${props} /><//>`
}

/** Queues of spans take no other calls. */
async function listQueues(project_id: string, signal: AbortSignal): Promise<Queue[]> {
  const queues: Queue[] = []
  const body = { project_id }
  for await (const queue of requestLines<Queue>('/annotation_queues/query', body, { signal }))
    if (queue.queue_type === 'call') queues.push(queue)
  return queues
}

/** @returns how many calls were added, without those that were in the queue before */
async function fillQueue(
  project_id: string,
  queue: string,
  call_ids: readonly string[],
): Promise<number> {
  const body = { project_id, call_ids, display_fields: [] }
  const path = `/annotation_queues/${encodeURIComponent(queue)}/items`
  return (await requestJson<{ added_count: number }>(path, body)).added_count
}

type Known = Pick<Queue, 'id' | 'name'>

function Choice({ target }: AddToQueueProps) {
  const { project } = target
  // Nothing is selected: the newest calls of the search.
  const isAny = isEmpty(target.selection)
  const queues = useLoad(project, (signal) => listQueues(project, signal))
  const [made, setMade] = useState<readonly Known[]>([])
  const [queue, setQueue] = useState('')
  const [name, setName] = useState('')
  const [limit, setLimit] = useState(CALLS_DEFAULT)
  const [told, tell] = useState<string | null>(null)
  const [filled, setFilled] = useState<string | null>(null)
  const add = async () => {
    const ids = isAny
      ? await readSelectedIds(
          { ...target, selection: EVERYTHING },
          Math.min(Number(limit), CALLS_MAX),
        )
      : await readSelectedIds(target)
    if (ids.length === 0) return 'No calls match the filter.'
    const id = queue === '' ? await makeQueue(project, name) : queue
    if (queue === '') {
      setMade([...made, { id, name }])
      setQueue(id)
      setName('')
    }
    let count = 0
    for (const some of groupsOf(ids, CALLS_MAX)) count += await fillQueue(project, id, some)
    setFilled(id)
    return `${formatCalls(count)} added`
  }
  const { submit, failure } = useSubmit(async () => {
    tell('…')
    setFilled(null)
    tell(await add())
  })
  const known = new Map([...(queues.value ?? []), ...made].map((one) => [one.id, one.name]))
  const textOf = (event: Event) => (event.target as HTMLInputElement).value
  return html`<form class="fields" onSubmit=${submit}>
    <label>Queue
      <select value=${queue} onChange=${(event: Event) => setQueue(textOf(event))}>
        <option value="">a new one</option>
        ${[...known].map(([id, words]) => html`<option key=${id} value=${id}>${words}</option>`)}
      </select>
    </label>
    ${queue === '' && html`<label>Its name<input required value=${name} onInput=${(event: Event) => setName(textOf(event))} /></label>`}
    ${isAny && html`<label>Newest calls, at most<input type="number" min="1" max=${CALLS_MAX} required value=${limit} onInput=${(event: Event) => setLimit(textOf(event))} /></label>`}
    <button class="main" onClick=${clickOnce}>Add</button>
    <span role="status">${failure ?? told ?? queues.failure} ${filled !== null && html`<a href=${pathTo(project, 'queues', filled)}>rate them</a>`}</span>
  </form>`
}

async function makeQueue(project_id: string, name: string): Promise<string> {
  const body = { project_id, name, scorer_refs: [] }
  return (await requestJson<{ id: string }>('/annotation_queues', body)).id
}
