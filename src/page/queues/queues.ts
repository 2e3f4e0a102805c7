/** Queues of calls or spans that wait for people's judgement. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { errorText, requestJson, requestLines } from '../api/client.ts'
import { may } from '../api/session.ts'
import type { Queue } from '../api/wire.ts'
import { formatCount, formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { clickOnce, textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { focusNeighbour } from '../parts/neighbour.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'

/** Limit: queues per request for progress. */
const STATS_MAX = 1000

interface Progress {
  readonly queue_id: string
  readonly total_items: number
  readonly completed_items: number
}

interface Known {
  readonly queues: readonly Queue[]
  readonly progress: ReadonlyMap<string, Progress>
}

async function readQueues(project_id: string, signal: AbortSignal): Promise<Known> {
  const queues: Queue[] = []
  const body = { project_id, limit: STATS_MAX }
  for await (const queue of requestLines<Queue>('/annotation_queues/query', body, { signal }))
    queues.push(queue)
  const queue_ids = queues.map(({ id }) => id)
  const asked = { project_id, queue_ids }
  const { stats } = await requestJson<{ stats: Progress[] }>('/annotation_queues/stats', asked, {
    signal,
  })
  return { queues, progress: new Map(stats.map((one) => [one.queue_id, one])) }
}

export function Queues({ project }: ViewProps) {
  const [count, reload] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  const known = useLoad(project, (signal) => readQueues(project, signal), count)
  if (known.value === null) return html`<${Pending} title="Queues" loaded=${known} />`
  const { queues, progress } = known.value
  const remove = async ({ id, name }: Queue, button: Element) => {
    if (!confirm(`Delete the queue ${name}? What it holds and its feedback stay.`)) return
    setFailure(null)
    const path = `/annotation_queues/${encodeURIComponent(id)}?project_id=${encodeURIComponent(project)}`
    try {
      await requestJson(path, undefined, { method: 'DELETE' })
      focusNeighbour(button, { item: 'tr', button: 'button', instead: 'a', within: 'main' })
      reload((last) => last + 1)
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  return html`<h1>Queues</h1>
    <p>A queue holds calls or spans that people rate one after the other, by keyboard. Choose calls on <a href=${pathTo(project, 'calls')}>Traces</a> by
      the filter, and add them to a queue there, or set rules by which it fills itself. Queues of spans are filled over the API.</p>
    ${may('traces:write') && html`<${NewQueue} project=${project} onMade=${() => reload((last) => last + 1)} />`}
    <${Failure} words=${failure ?? known.failure} />
    ${
      queues.length > 0 &&
      html`<div class="scroll" tabindex="0"><table class="list">
        <thead><tr>
          <th scope="col">Queue</th><th scope="col" class="number">Done or skipped</th><th scope="col" class="number">Items</th>
          <th scope="col">Progress</th><th scope="col">Created</th><th scope="col"><span class="hidden">Delete</span></th>
        </tr></thead>
        <tbody>${queues.map((queue) => html`<${QueueRow} key=${queue.id} project=${project} queue=${queue} progress=${progress.get(queue.id)} onDelete=${(event: Event) => remove(queue, event.currentTarget as Element)} />`)}</tbody>
      </table></div>`
    }
    ${queues.length === 0 && html`<p class="notice">No queues yet.</p>`}`
}

interface NewQueueProps {
  readonly project: string
  readonly onMade: () => void
}

function NewQueue({ project, onMade }: NewQueueProps) {
  const [name, setName] = useState('')
  const { submit, failure } = useSubmit(async () => {
    const body = { project_id: project, name, scorer_refs: [] }
    await requestJson('/annotation_queues', body)
    setName('')
    onMade()
  })
  return html`<form class="card bar filters" aria-label="New queue" onSubmit=${submit}>
    <label>Name<input required maxlength="256" value=${name} onInput=${textOf(setName)} /></label>
    <button onClick=${clickOnce}>Add queue</button>
    <${Failure} words=${failure} />
  </form>`
}

interface QueueRowProps {
  readonly project: string
  readonly queue: Queue
  readonly progress: Progress | undefined
  readonly onDelete: (event: Event) => void
}

function QueueRow({ project, queue, progress, onDelete }: QueueRowProps) {
  const { total_items = 0, completed_items = 0 } = progress ?? {}
  return html`<tr>
    <td class="wrap"><a href=${pathTo(project, 'queues', queue.id)}>${queue.name}</a> <span class="faint">${queue.queue_type === 'span' ? 'spans' : ''} ${queue.description}</span></td>
    <td class="number">${formatCount(completed_items)}</td>
    <td class="number">${formatCount(total_items)}</td>
    <td><progress max=${Math.max(total_items, 1)} value=${completed_items} aria-label=${`Progress of ${queue.name}`}></progress></td>
    <td>${formatTime(queue.created_at, false)}</td>
    <td>${may('traces:write') && html`<button class="quiet" onClick=${onDelete}>delete</button>`}</td>
  </tr>`
}
