/** Alerts of a project: their states, a form for another one, and the history of one. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { AlertResponse } from '../../schemas/alerts/alert.ts'
import { requestJson } from '../api/client.ts'
import { may } from '../api/session.ts'
import { formatNumber, formatTime } from '../parts/format.ts'
import { type Act, useAction } from '../parts/hooks/use-action.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import { AlertHistory } from './alert-history.ts'
import { nameRule } from './alert-rules.ts'
import { NewAlert } from './new-alert.ts'

export function Alerts({ project, subject }: ViewProps) {
  if (!may('admin')) {
    return html`<h1>Alerts</h1><p class="notice">Alerts need the scope admin, since addresses of webhooks may hold secrets.</p>`
  }
  return subject === null
    ? html`<${AlertList} key=${project} project=${project} />`
    : html`<${AlertHistory} key=${subject} project=${project} id=${subject} />`
}

function AlertList({ project }: { readonly project: string }) {
  const [turn, setTurn] = useState(0)
  const reload = () => setTurn((last) => last + 1)
  const { act, done, failure } = useAction(reload)
  const url = `/v1/alerts?project_id=${encodeURIComponent(project)}`
  const load = (signal: AbortSignal) =>
    requestJson<{ data: AlertResponse[] }>(url, undefined, { signal })
  const loaded = useLoad(project, load, turn)
  if (loaded.value === null) return html`<${Pending} title="Alerts" loaded=${loaded} />`
  const { data } = loaded.value
  return html`<h1>Alerts</h1>
    <p>An alert measures a statistic or a score over a window, each minute, and posts to an address when it passes a threshold and when it is back.
      Filters, hysteresis and more metrics are set over the API.</p>
    <${NewAlert} project=${project} onMade=${reload} />
    <${Failure} words=${failure ?? loaded.failure} />
    <p role="status">${done}</p>
    ${data.length === 0 && html`<p class="notice">No alerts yet.</p>`}
    ${
      data.length > 0 &&
      html`<div class="scroll" tabindex="0"><table class="list" aria-label="Alerts">
      <thead><tr>
        <th scope="col">Alert</th><th scope="col">State</th><th scope="col" class="number">Value</th>
        <th scope="col">Fires</th><th scope="col">Checked</th><th scope="col"><span class="hidden">Actions</span></th>
      </tr></thead>
      <tbody>${data.map((alert) => html`<${AlertRow} key=${alert.id} project=${project} alert=${alert} act=${act} />`)}</tbody>
    </table></div>`
    }`
}

interface AlertRowProps {
  readonly project: string
  readonly alert: AlertResponse
  readonly act: Act
}

/** Digits of a value; the tooltip has all. */
const DIGITS = 4

interface TestResult {
  readonly delivered: boolean
  readonly error: string | null
}

function AlertRow({ project, alert, act }: AlertRowProps) {
  const { id, name, measures, state, value, checked_at, is_enabled, error } = alert
  const url = `/v1/alerts/${encodeURIComponent(id)}`
  const test = () =>
    act(async () => {
      const { delivered, error: reason } = await requestJson<TestResult>(`${url}/test`, {})
      return delivered ? `${name}: the test was delivered.` : `${name}: not delivered, ${reason}.`
    })
  const toggle = () =>
    act(async () => {
      await requestJson(url, { is_enabled: !is_enabled }, { method: 'PATCH' })
      return null
    })
  const remove = () =>
    confirm(`Delete the alert ${name} and its history?`)
      ? act(async () => {
          await requestJson(url, undefined, { method: 'DELETE' })
          return `${name} was deleted.`
        })
      : undefined
  return html`<tr>
    <td class="wrap"><a href=${pathTo(project, 'alerts', id)}>${name}</a></td>
    <td>${is_enabled ? state : 'disabled'}${error !== null && html`<br /><span class="faint">${error}</span>`}</td>
    <td class="number" title=${value}>${value === null ? '' : formatNumber(Number(value.toPrecision(DIGITS)))}</td>
    <td class="wrap">${measures} ${nameRule(alert)}</td>
    <td>${checked_at === null ? 'not yet' : formatTime(checked_at, false)}</td>
    <td>
      <button class="quiet" onClick=${test}>test</button>
      <button class="quiet" onClick=${toggle}>${is_enabled ? 'disable' : 'enable'}</button>
      <button class="quiet" onClick=${remove}>delete</button>
    </td>
  </tr>`
}
