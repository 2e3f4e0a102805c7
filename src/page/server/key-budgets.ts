/** The budgets of a key, a project or a person: what is spent, other limits, one budget more. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { BudgetResponse } from '../../schemas/access/budget.ts'
import { errorText, requestJson } from '../api/client.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { clickOnce, textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'

const PERIODS = ['day', 'week', 'month', 'life'] as const
const URL = '/v1/budgets'

interface Subject {
  readonly kind: BudgetResponse['subject_kind']
  readonly id: string
}

/** The budgets of all keys, projects and persons. */
export function readBudgets(signal: AbortSignal) {
  return requestJson<{ data: BudgetResponse[] }>(URL, undefined, { signal })
}

export function BudgetsOf({ kind, id }: Subject) {
  const [turn, setTurn] = useState(0)
  const reload = () => setTurn((last) => last + 1)
  const loaded = useLoad('budgets', readBudgets, turn)
  return html`<${Failure} words=${loaded.failure} />
    <${BudgetForms} kind=${kind} id=${id} budgets=${loaded.value?.data ?? []} onChanged=${reload} />`
}

interface BudgetFormsProps extends Subject {
  /** Those of others are left out. */
  readonly budgets: readonly BudgetResponse[]
  readonly onChanged: () => void
}

export function BudgetForms({ kind, id, budgets, onChanged }: BudgetFormsProps) {
  const own = budgets.filter(
    ({ subject_kind, subject_id }) => subject_kind === kind && subject_id === id,
  )
  return html`<h3>Budgets</h3>
    ${own.map((budget) => html`<${BudgetRow} key=${budget.id} budget=${budget} onChanged=${onChanged} />`)}
    <${NewBudget} kind=${kind} id=${id} onMade=${onChanged} />`
}

interface BudgetRowProps {
  readonly budget: BudgetResponse
  readonly onChanged: () => void
}

function BudgetRow({ budget, onChanged }: BudgetRowProps) {
  const { id, period, zone, hard_usd, soft_usd, spent_usd, reserved_usd } = budget
  const [hard, setHard] = useState(hard_usd === null ? '' : String(hard_usd))
  const [soft, setSoft] = useState(soft_usd === null ? '' : String(soft_usd))
  const [failure, setFailure] = useState<string | null>(null)
  const url = `${URL}/${encodeURIComponent(id)}`
  const { submit, failure: refusal } = useSubmit(async () => {
    await requestJson(url, { hard_usd: toUsd(hard), soft_usd: toUsd(soft) }, { method: 'PATCH' })
    onChanged()
  })
  const remove = () =>
    requestJson(url, undefined, { method: 'DELETE' }).then(onChanged, (error: unknown) =>
      setFailure(errorText(error)),
    )
  return html`<form class="bar" aria-label=${`Budget of a ${period}`} onSubmit=${submit}>
      <label>US dollars a ${period}<input type="number" min="0" step="any" value=${hard} onInput=${textOf(setHard)} placeholder="no limit" /></label>
      <label>Warns at<input type="number" min="0" step="any" value=${soft} onInput=${textOf(setSoft)} placeholder="never" /></label>
      <span>$${spent_usd} spent, $${reserved_usd} reserved <span class="faint">${zone}</span></span>
      <button onClick=${clickOnce}>Save budget</button>
      <button type="button" onClick=${remove}>Delete budget</button>
      <${Failure} words=${refusal ?? failure} />
    </form>`
}

interface NewBudgetProps extends Subject {
  readonly onMade: () => void
}

function NewBudget({ kind, id, onMade }: NewBudgetProps) {
  const [period, setPeriod] = useState<string>('month')
  const [hard, setHard] = useState('')
  const [soft, setSoft] = useState('')
  const { submit, failure } = useSubmit(async () => {
    await requestJson(URL, {
      subject_kind: kind,
      subject_id: id,
      period,
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      hard_usd: toUsd(hard),
      soft_usd: toUsd(soft),
    })
    setHard('')
    setSoft('')
    onMade()
  })
  return html`<form class="bar" aria-label="New budget" onSubmit=${submit}>
      <label>US dollars<input type="number" required min="0" step="any" value=${hard} onInput=${textOf(setHard)} /></label>
      <label>Warns at<input type="number" min="0" step="any" value=${soft} onInput=${textOf(setSoft)} placeholder="never" /></label>
      <label>In a<select value=${period} onChange=${textOf(setPeriod)}>
        ${PERIODS.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select></label>
      <button onClick=${clickOnce}>Add budget</button>
      <${Failure} words=${failure} />
    </form>`
}

function toUsd(text: string): number | null {
  return text === '' ? null : Number(text)
}
