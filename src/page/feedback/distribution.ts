/** How often values are given, as a table with bars. */
import { html } from 'htm/preact'
import { formatCount } from '../parts/format.ts'
import type { Bin } from './bins.ts'

interface DistributionProps {
  readonly title: string
  readonly bins: readonly Bin[]
}

export function Distribution({ title, bins }: DistributionProps) {
  const most = Math.max(...bins.map(({ count }) => count), 1)
  const all = bins.reduce((sum, { count }) => sum + count, 0)
  return html`<table class="list whole distribution" aria-label=${title}>
    <thead><tr><th scope="col">Value</th><th scope="col"><span class="hidden">Share of the most frequent</span></th><th scope="col" class="number">Count</th><th scope="col" class="number">Share</th></tr></thead>
    <tbody>${bins.map(
      ({ label, count }) => html`<tr key=${label}>
        <th scope="row" class="wrap">${label}</th>
        <td class="distribution-bar"><meter class="share" min="0" max="1" value=${count / most} aria-hidden="true"></meter></td>
        <td class="number">${formatCount(count)}</td>
        <td class="number">${all === 0 ? '' : `${((100 * count) / all).toFixed(1)} %`}</td>
      </tr>`,
    )}</tbody>
  </table>`
}
