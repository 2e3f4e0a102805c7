/** The form for a new alert. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { AlertResponse } from '../../schemas/alerts/alert.ts'
import { requestJson } from '../api/client.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { OFFERS, WINDOWS } from './alert-rules.ts'

type FieldEvent = Event & { readonly currentTarget: HTMLInputElement | HTMLSelectElement }

interface NewAlertProps {
  readonly project: string
  readonly onMade: () => void
}

const EMPTY = {
  name: '',
  offer: '0',
  score: '',
  direction: 'above',
  threshold: '',
  window: '3600',
  url: '',
  format: 'standard',
}

export function NewAlert({ project, onMade }: NewAlertProps) {
  const [fields, setFields] = useState(EMPTY)
  const [secret, setSecret] = useState<string | null>(null)
  const set =
    (name: keyof typeof EMPTY) =>
    ({ currentTarget }: FieldEvent) =>
      setFields((last) => ({ ...last, [name]: currentTarget.value }))
  const offered = OFFERS[Number(fields.offer)]?.metric ?? { kind: 'calls', metric: 'call_count' }
  const isScore = offered.kind === 'feedback'
  const { submit, failure } = useSubmit(async () => {
    const { name, direction, threshold, window, url, format } = fields
    const made = await requestJson<AlertResponse & { secret: string }>('/v1/alerts', {
      project_id: project,
      name,
      metric: isScore ? { ...offered, feedback_type: fields.score } : offered,
      direction,
      threshold: Number(threshold),
      window_s: Number(window),
      webhook: { url, format },
    })
    setSecret(format === 'standard' ? made.secret : null)
    setFields(EMPTY)
    onMade()
  })
  return html`<form class="card bar filters" aria-label="New alert" onSubmit=${submit}>
      <label>Name<input required maxlength="256" value=${fields.name} onInput=${set('name')} /></label>
      <label>Measures<select value=${fields.offer} onChange=${set('offer')}>
        ${OFFERS.map(({ label }, at) => html`<option key=${label} value=${String(at)}>${label}</option>`)}
      </select></label>
      ${isScore && html`<label>Type of feedback<input required maxlength="256" value=${fields.score} onInput=${set('score')} placeholder="wandb.runnable.NAME" /></label>`}
      <label>Fires<select value=${fields.direction} onChange=${set('direction')}>
        <option value="above">above</option><option value="below">below</option>
      </select></label>
      <label>Threshold<input class="short" type="number" required step="any" value=${fields.threshold} onInput=${set('threshold')} /></label>
      <label>Over<select value=${fields.window} onChange=${set('window')}>
        ${WINDOWS.map(([seconds, label]) => html`<option key=${label} value=${String(seconds)}>${label}</option>`)}
      </select></label>
      <label>Webhook<input type="url" required maxlength="2048" value=${fields.url} onInput=${set('url')} placeholder="https://" /></label>
      <label>Format<select value=${fields.format} onChange=${set('format')}>
        <option value="standard">Standard Webhooks</option><option value="slack">Slack</option>
      </select></label>
      <button onClick=${clickOnce}>Add alert</button>
      <${Failure} words=${failure} />
    </form>
    ${secret !== null && html`<p class="notice secret" role="status">The secret of its signatures, shown only once: <code>${secret}</code></p>`}`
}
