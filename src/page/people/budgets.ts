/** All budgets of keys, projects and persons: what is spent, and what is left. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { BudgetResponse } from '../../schemas/access/budget.ts'
import { caller } from '../api/session.ts'
import { formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { textOf } from '../parts/hooks/use-submit.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { BudgetForms, readBudgets } from '../server/key-budgets.ts'
import { Use } from './use.ts'

const KINDS = ['project', 'person', 'key'] as const

export function Budgets() {
  const [turn, setTurn] = useState(0)
  const [kind, setKind] = useState<BudgetResponse['subject_kind']>('project')
  const [id, setId] = useState(caller.value?.projects[0] ?? '')
  const reload = () => setTurn((last) => last + 1)
  const loaded = useLoad('budgets', readBudgets, turn)
  const budgets = loaded.value?.data ?? []
  const edit = (budget: BudgetResponse) => {
    setKind(budget.subject_kind)
    setId(budget.subject_id)
  }
  return html`<div class="people"><div class="bar"><h1>Budgets</h1><a href="/people">People</a> <a href="/keys">Keys</a></div>
    <div class="card">
      <div class="bar">
        <label>Of a<select value=${kind} onChange=${textOf((text) => setKind(text as typeof kind))}>
          ${KINDS.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
        </select></label>
        <label>Id<input maxlength="257" value=${id} onInput=${textOf(setId)} placeholder=${kind === 'project' ? 'acme/demo' : 'id'} /></label>
      </div>
      ${id.trim() !== '' && html`<${BudgetForms} key=${`${kind} ${id}`} kind=${kind} id=${id.trim()} budgets=${budgets} onChanged=${reload} />`}
    </div>
    <${Failure} words=${loaded.failure} />
    ${loaded.value === null && loaded.isLoading && html`<${Loading} />`}
    <h2>${budgets.length} ${budgets.length === 1 ? 'budget' : 'budgets'}</h2>
    <div class="scroll" tabindex="0"><table class="list keys" aria-label="Budgets">
      <thead><tr>
        <th scope="col">Of</th><th scope="col">Period</th><th scope="col">Limit</th>
        <th scope="col">Spent</th><th scope="col">Left</th><th scope="col"><span class="hidden">Edit</span></th>
      </tr></thead>
      <tbody>${budgets.map((budget) => html`<${Row} key=${budget.id} budget=${budget} onEdit=${() => edit(budget)} />`)}</tbody>
    </table></div>
    <${Use} /></div>`
}

interface RowProps {
  readonly budget: BudgetResponse
  readonly onEdit: () => void
}

function Row({ budget, onEdit }: RowProps) {
  const { subject_kind, subject_id, period, zone, hard_usd, soft_usd, spent_usd } = budget
  const { reserved_usd, period_end } = budget
  const left = hard_usd === null ? null : Math.max(0, hard_usd - spent_usd - reserved_usd)
  const isWarned = soft_usd !== null && spent_usd >= soft_usd
  return html`<tr>
    <td class="wrap">${subject_kind} <b>${subject_id}</b></td>
    <td class="wrap">${period} <span class="faint">${zone}${period_end !== null && `, until ${formatTime(period_end, false)}`}</span></td>
    <td>${hard_usd === null ? 'none' : renderUsd(hard_usd)}${soft_usd !== null && html`<br /><span class="faint">warns at ${renderUsd(soft_usd)}</span>`}</td>
    <td>${renderUsd(spent_usd)}${reserved_usd > 0 && html`<br /><span class="faint">${renderUsd(reserved_usd)} reserved</span>`}${isWarned && html`<br />soft limit passed`}</td>
    <td>${left === null ? '' : renderUsd(left)}${left !== null && hard_usd !== null && html`<br /><meter min="0" max=${hard_usd} value=${left} aria-label=${`Left of ${subject_id}`}></meter>`}</td>
    <td><button aria-label=${`Edit the budgets of ${subject_id}`} onClick=${onEdit}>Edit</button></td>
  </tr>`
}

/** Of 10^-9 dollars no digit is lost, and cents are always shown. */
function renderUsd(usd: number): string {
  const text = usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 9 })
  return `$${text}`
}
