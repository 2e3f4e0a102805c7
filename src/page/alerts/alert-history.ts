/** One alert: when it fired and cleared, and how each message was delivered. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { AlertEventResponse, AlertResponse } from '../../schemas/alerts/alert.ts'
import { requestJson } from '../api/client.ts'
import { formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { pathTo } from '../shell/page-route.ts'
import { useSubjectName } from '../shell/subject-name.ts'
import { nameRule } from './alert-rules.ts'

const PAGE_SIZE = 50

interface Known {
  readonly alert: AlertResponse
  readonly data: readonly AlertEventResponse[]
  readonly has_more: boolean
  readonly last_id: string
}

interface AlertHistoryProps {
  readonly project: string
  readonly id: string
}

export function AlertHistory({ project, id }: AlertHistoryProps) {
  const [after, setAfter] = useState('')
  const url = `/v1/alerts/${encodeURIComponent(id)}`
  const loaded = useLoad(`${url} ${after}`, async (signal): Promise<Known> => {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), after })
    const [alert, page] = await Promise.all([
      requestJson<AlertResponse>(url, undefined, { signal }),
      requestJson<Omit<Known, 'alert'>>(`${url}/history?${query}`, undefined, { signal }),
    ])
    return { alert, ...page }
  })
  useSubjectName(id, loaded.isLoading, loaded.value?.alert.name)
  if (loaded.value === null) return html`<${Pending} title="Alert" loaded=${loaded} />`
  const { alert, data, has_more, last_id } = loaded.value
  return html`<h1>${alert.name}</h1>
    <p><a href=${pathTo(project, 'alerts')}>All alerts</a></p>
    <p>${alert.measures} ${nameRule(alert)}: ${alert.is_enabled ? alert.state : 'disabled'}, to ${alert.webhook.url}</p>
    <${Failure} words=${loaded.failure} />
    ${data.length === 0 && html`<p class="notice">It has not fired yet.</p>`}
    ${
      data.length > 0 &&
      html`<div class="scroll" tabindex="0"><table class="list" aria-label="History">
      <thead><tr>
        <th scope="col">Time</th><th scope="col">Change</th><th scope="col" class="number">Value</th>
        <th scope="col" class="number">Threshold</th><th scope="col">Delivery</th>
      </tr></thead>
      <tbody>${data.map((event) => html`<${EventRow} key=${event.id} event=${event} />`)}</tbody>
    </table></div>`
    }
    <div class="bar">
      ${after !== '' && html`<button onClick=${() => setAfter('')}>Newest</button>`}
      ${has_more && html`<button onClick=${() => setAfter(last_id)}>Older</button>`}
    </div>`
}

function EventRow({ event }: { readonly event: AlertEventResponse }) {
  const { created_at, kind, value, threshold, delivery, attempts, error, next_attempt_at } = event
  const next = next_attempt_at === null ? '' : `, next ${formatTime(next_attempt_at, false)}`
  return html`<tr>
    <td>${formatTime(created_at, false)}</td>
    <td>${kind}</td>
    <td class="number">${value}</td>
    <td class="number">${threshold}</td>
    <td class="wrap">${delivery}<span class="faint"> ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${next}${error === null ? '' : `: ${error}`}</span></td>
  </tr>`
}
