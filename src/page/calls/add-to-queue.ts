/** Puts the newest calls of the filter into a queue, to be rated. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { ask, askLines, wordsOf } from '../api/client.ts'
import { may } from '../api/session.ts'
import type { CallsQuestion, Queue } from '../api/wire.ts'
import { formatCalls } from '../parts/format.ts'
import { Menu } from '../parts/menu.ts'
import { useLoad } from '../parts/use-load.ts'
import { pathTo } from '../shell/place.ts'

/** Limit: calls that are put in at once; one request takes no more. */
const CALLS_MAX = 1000
const CALLS_DEFAULT = '100'

interface AddToQueueProps {
  readonly project: string
  readonly question: CallsQuestion
}

export function AddToQueue(props: AddToQueueProps) {
  if (!may('traces:write')) return null
  return html`<${Menu} words="Add to a queue"><${Choice} ...${props} /><//>`
}

async function listQueues(project_id: string, signal: AbortSignal): Promise<Queue[]> {
  const queues: Queue[] = []
  const body = { project_id }
  for await (const queue of askLines<Queue>('/annotation_queues/query', body, { signal }))
    queues.push(queue)
  return queues
}

/** @returns calls that are in the queue now and were not before */
async function fillQueue(queue: string, question: CallsQuestion, limit: number): Promise<number> {
  const call_ids: string[] = []
  const sort_by = [{ field: 'started_at', direction: 'desc' }]
  const wanted = { ...question, limit, sort_by, columns: ['id'] }
  for await (const { id } of askLines<{ id: string }>('/calls/stream_query', wanted))
    call_ids.push(id)
  const body = { project_id: question.project_id, call_ids, display_fields: [] }
  const path = `/annotation_queues/${encodeURIComponent(queue)}/items`
  return (await ask<{ added_count: number }>(path, body)).added_count
}

function Choice({ project, question }: AddToQueueProps) {
  const queues = useLoad(project, (signal) => listQueues(project, signal))
  const [queue, setQueue] = useState('')
  const [name, setName] = useState('')
  const [limit, setLimit] = useState(CALLS_DEFAULT)
  const [told, tell] = useState<string | null>(null)
  const [filled, setFilled] = useState<string | null>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    tell('…')
    try {
      const id = queue === '' ? await makeQueue(project, name) : queue
      const count = await fillQueue(id, question, Math.min(Number(limit), CALLS_MAX))
      setFilled(id)
      tell(`${formatCalls(count)} added`)
    } catch (error) {
      tell(wordsOf(error))
    }
  }
  const textOf = (event: Event) => (event.target as HTMLInputElement).value
  return html`<form class="fields" onSubmit=${submit}>
    <label>Queue
      <select value=${queue} onChange=${(event: Event) => setQueue(textOf(event))}>
        <option value="">a new one</option>
        ${queues.value?.map(({ id, name: known }) => html`<option key=${id} value=${id}>${known}</option>`)}
      </select>
    </label>
    ${queue === '' && html`<label>Its name<input required value=${name} onInput=${(event: Event) => setName(textOf(event))} /></label>`}
    <label>Newest calls, at most<input type="number" min="1" max=${CALLS_MAX} required value=${limit} onInput=${(event: Event) => setLimit(textOf(event))} /></label>
    <button class="main">Add</button>
    <span role="status">${told} ${filled !== null && html`<a href=${pathTo(project, 'queues', filled)}>rate them</a>`}</span>
  </form>`
}

async function makeQueue(project_id: string, name: string): Promise<string> {
  const body = { project_id, name, scorer_refs: [] }
  return (await ask<{ id: string }>('/annotation_queues', body)).id
}
