/** The scoring of old calls by an evaluator: an estimate first, then its start, and its states. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type {
  BackfillEstimateResponse,
  BackfillRequest,
  EvaluatorResponse,
} from '../../schemas/evaluators/evaluator.ts'
import { requestJson } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import { may } from '../api/session.ts'
import { formatCost, formatCount } from '../parts/format.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { urlOf } from './evaluator-labels.ts'

const MS_PER_DAY = 86_400_000

interface BackfillPanelProps {
  readonly project: string
  readonly evaluator: EvaluatorResponse
  readonly onChange: () => void
}

interface Estimated {
  /** What was estimated, and is started then. */
  readonly body: BackfillRequest
  readonly found: BackfillEstimateResponse
}

export function BackfillPanel({ project, evaluator, onChange }: BackfillPanelProps) {
  const { id, backfill } = evaluator
  const url = urlOf(id, '/backfill')
  const [days, setDays] = useState('7')
  const [estimated, setEstimated] = useState<Estimated | null>(null)
  const estimate = useSubmit(async () => {
    setEstimated(null)
    const until = serverNow()
    const body = {
      project_id: project,
      until: new Date(until).toISOString(),
      ...(days === '' ? {} : { from: new Date(until - Number(days) * MS_PER_DAY).toISOString() }),
    }
    const found = await requestJson<BackfillEstimateResponse>(`${url}/estimate`, body)
    setEstimated({ body, found })
  })
  const start = useSubmit(async () => {
    await requestJson(url, estimated?.body)
    setEstimated(null)
    onChange()
  })
  const isOpen = backfill !== null && backfill.state !== 'done'
  return html`
    ${backfill !== null && html`<p>${formatCount(backfill.queued)} of some ${formatCount(backfill.expected)} are queued: ${backfill.state}.</p>`}
    ${isOpen && may('traces:write') && html`<${States} project=${project} url=${url} state=${backfill.state} onChange=${onChange} />`}
    ${
      !isOpen &&
      html`<form class="card bar filters" aria-label="Old calls" onSubmit=${estimate.submit}>
      <label>Began in the last<select value=${days} onChange=${({
        currentTarget,
      }: Event & { readonly currentTarget: HTMLSelectElement }) => {
        setDays(currentTarget.value)
        setEstimated(null)
      }}>
        <option value="1">day</option><option value="7">7 days</option><option value="30">30 days</option><option value="">any time</option>
      </select></label>
      <button onClick=${clickOnce}>Estimate</button>
    </form>`
    }
    ${
      estimated !== null &&
      !isOpen &&
      html`<form class="bar" aria-label="Start" onSubmit=${start.submit}>
      <span role="status">${nameEstimate(estimated.found)}</span>
      ${may('traces:write') && html`<button onClick=${clickOnce}>Score them</button>`}
    </form>`
    }
    <${Failure} words=${estimate.failure ?? start.failure} />`
}

function nameEstimate({ calls, sampled, cost_usd }: BackfillEstimateResponse): string {
  const cost = cost_usd === null ? 'an unknown cost' : `about ${formatCost(cost_usd)}`
  return `${formatCount(calls)} found, ${formatCount(sampled)} of them by the share, for ${cost}.`
}

interface StatesProps {
  readonly project: string
  readonly url: string
  readonly state: 'running' | 'paused' | 'done'
  readonly onChange: () => void
}

function States({ project, url, state, onChange }: StatesProps) {
  const next = state === 'running' ? 'paused' : 'running'
  const toggle = useSubmit(() => change(next))
  const cancel = useSubmit(() => change('cancelled'))
  async function change(to: string): Promise<void> {
    await requestJson(url, { project_id: project, state: to }, { method: 'PUT' })
    onChange()
  }
  return html`<div class="bar">
    <button onClick=${toggle.submit}>${state === 'running' ? 'Pause' : 'Continue'}</button>
    <button onClick=${cancel.submit}>Cancel</button>
    <${Failure} words=${toggle.failure ?? cancel.failure} />
  </div>`
}
