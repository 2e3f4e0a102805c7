/** The target and the candidate of a name side by side: calls, errors, latency, cost and scores. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { serverNow } from '../../api/clock.ts'
import { nameOfType } from '../../parts/calls/feedback-summary.ts'
import { PRESETS } from '../../parts/charts/range.ts'
import { formatCost, formatCount, formatMs, formatNumber } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { Failure, Loading } from '../../parts/notice.ts'
import { Interval, largestOf } from '../compared/interval.ts'
import { type Alias, type Arms, readArms } from './alias-api.ts'

export function ArmTable({ alias }: { readonly alias: Alias }) {
  const [range, setRange] = useState('')
  const [turn, setTurn] = useState(0)
  const ms = PRESETS[range]?.ms
  const loaded = useLoad(
    `${alias.name} ${range}`,
    (signal) =>
      readArms(alias, ms === undefined ? '' : new Date(serverNow() - ms).toISOString(), signal),
    turn,
  )
  const choose = (event: Event) => setRange((event.target as HTMLSelectElement).value)
  const arms = loaded.value
  return html`<div class="bar">
      <label class="inline">Calls<select value=${range} onChange=${choose}>
        <option value="">since it was set</option>
        ${Object.keys(PRESETS).map((name) => html`<option key=${name} value=${name}>of the last ${name}</option>`)}
      </select></label>
      <button onClick=${() => setTurn((last) => last + 1)}>Refresh</button>
    </div>
    <${Failure} words=${loaded.failure} />
    ${arms === null ? html`<${Loading} />` : html`<${Table} arms=${arms} />`}`
}

function Table({ arms: { arms, differences, is_complete } }: { readonly arms: Arms }) {
  const [target, candidate] = arms
  if (!target || !candidate || target.calls + candidate.calls === 0)
    return html`<p class="faint">No calls yet.</p>`
  const most = largestOf(differences)
  const shareOf = ({ calls, errors }: Arms['arms'][number]) =>
    calls === 0 ? '' : `${formatCount(errors)} (${formatNumber((100 * errors) / calls)} %)`
  const types = [...new Set(arms.flatMap(({ scores }) => scores.map((one) => one.feedback_type)))]
  const scoreOf = ({ scores }: Arms['arms'][number], type: string) => {
    const score = scores.find(({ feedback_type }) => feedback_type === type)
    return score ? `${formatNumber(score.mean)} of ${formatCount(score.count)}` : ''
  }
  const rows = [
    ['Models', target.models.join(', '), candidate.models.join(', ')],
    ['Calls', formatCount(target.calls), formatCount(candidate.calls)],
    ['Errors', shareOf(target), shareOf(candidate)],
    ['Latency, mean', formatMs(target.mean_latency_ms), formatMs(candidate.mean_latency_ms)],
    ['Latency, p95', formatMs(target.p95_latency_ms), formatMs(candidate.p95_latency_ms)],
    ['Cost of a call', formatCost(target.mean_cost_usd), formatCost(candidate.mean_cost_usd)],
  ]
  return html`<div class="scroll" tabindex="0"><table class="list" aria-label="Both models">
      <thead><tr>
        <th scope="col">Of calls</th><th scope="col" class="number">Target</th><th scope="col" class="number">Candidate</th>
        <th scope="col">Difference, 95 % interval over users</th>
      </tr></thead>
      <tbody>
        ${rows.map(([label, one, other]) => html`<tr key=${label}><th scope="row">${label}</th><td class="number">${one}</td><td class="number">${other}</td><td></td></tr>`)}
        ${types.map((type) => {
          const difference = differences.find(({ feedback_type }) => feedback_type === type)
          return html`<tr key=${type}>
            <th scope="row">${nameOfType(type)}</th>
            <td class="number">${scoreOf(target, type)}</td><td class="number">${scoreOf(candidate, type)}</td>
            <td>${difference && html`<${Interval} difference=${difference} most=${most} />`}</td>
          </tr>`
        })}
      </tbody>
    </table></div>
    ${!is_complete && html`<p class="faint">Of the 10,000 newest calls.</p>`}`
}
