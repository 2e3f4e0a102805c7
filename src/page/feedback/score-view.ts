/** One score: its trend, how its values are distributed, and the feedback at its worse end first. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { PayloadPath } from '../api/wire.ts'
import { isBetterLow } from '../evaluations/scores.ts'
import { formatCount, formatTime, preview } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { type Bin, binsOf, labelsOf, numbersIn } from './bins.ts'
import { fieldOfPath } from './leaf-paths.ts'
import { About, useCallNames } from './newest.ts'
import type { FeedbackWindow } from './newest-rows.ts'
import { PathChart } from './path-chart.ts'
import { readScoreValues, VALUES_MAX } from './score-values.ts'

/** Feedback listed at first, and added by each click on "more". */
const STEP = 20

interface ScoreProps {
  readonly project: string
  readonly asked: FeedbackWindow
  readonly path: string
  readonly type: PayloadPath['value_type']
}

export function ScoreView(props: ScoreProps) {
  const { asked, path, type } = props
  const field = fieldOfPath(path)
  return html`<${PathChart} asked=${asked} path=${path} type=${type} />
    ${
      field === null
        ? html`<p class="faint">Of values inside lists there is no distribution and no order.</p>`
        : html`<div class="charts">
            <${Values} ...${props} field=${field} />
            <${Ordered} ...${props} field=${field} />
          </div>`
    }`
}

type FieldProps = ScoreProps & { readonly field: string }

function Values({ asked, path, type, field }: FieldProps) {
  const order = { by: 'created_at', direction: 'desc' } as const
  const name = JSON.stringify([asked, field])
  const read = useLoad(name, (signal) => readScoreValues(asked, field, order, VALUES_MAX, signal))
  const values = read.value?.map(({ value }) => value) ?? []
  const numbers = numbersIn(values)
  const bins = type === 'numeric' ? binsOf(numbers) : labelsOf(values)
  const others = type === 'numeric' ? values.length - numbers.length : 0
  return html`<section class="card">
    <header><h2>Distribution</h2></header>
    <${Failure} words=${read.failure} />
    ${read.value === null ? read.isLoading && html`<${Loading} />` : html`<${Distribution} title=${`Distribution of ${path}`} bins=${bins} />`}
    ${values.length === VALUES_MAX && html`<p class="faint">Of the newest ${formatCount(VALUES_MAX)} values of this time.</p>`}
    ${others > 0 && html`<p class="faint">${formatCount(others)} ${others === 1 ? 'value is' : 'values are'} not a number.</p>`}
  </section>`
}

interface DistributionProps {
  readonly title: string
  readonly bins: readonly Bin[]
}

/** How often values are given, as a table with bars. */
function Distribution({ title, bins }: DistributionProps) {
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

function Ordered({ project, asked, path, type, field }: FieldProps) {
  const [isHighFirst, setHighFirst] = useState(isBetterLow(path))
  const [limit, setLimit] = useState(STEP)
  const direction = isHighFirst ? 'desc' : 'asc'
  const name = JSON.stringify([asked, field, direction])
  const read = useLoad(
    name,
    // One more than shown, to know whether there are more.
    (signal) => readScoreValues(asked, field, { by: 'value', direction }, limit + 1, signal),
    limit,
  )
  const rows = read.value?.slice(0, limit) ?? []
  const names = useCallNames(asked.project_id, rows)
  const ends = {
    numeric: ['Highest', 'Lowest'],
    boolean: ['True', 'False'],
    categorical: ['Last', 'First'],
  }
  const [high = '', low = ''] = ends[type]
  return html`<section class="card flush">
    <header class="score-head"><h2>${isHighFirst ? high : low} first</h2>
      <button class="quiet" onClick=${() => setHighFirst(!isHighFirst)}>${(isHighFirst ? low : high).toLowerCase()} first</button></header>
    <${Failure} words=${read.failure} />
    ${read.value === null && read.isLoading && html`<${Loading} />`}
    <div class=${read.isOther ? 'scroll stale' : 'scroll'} tabindex="0"><table class="list whole" aria-label=${`Feedback by ${path}`}>
      <thead><tr><th scope="col">Value</th><th scope="col">About</th><th scope="col">Type</th><th scope="col">Given</th></tr></thead>
      <tbody>${rows.map(
        ({ id, value, feedback_type, created_at, weave_ref }) => html`<tr key=${id}>
          <td class="score-value">${preview(value)}</td><td class="score-about"><${About} project=${project} about=${weave_ref} names=${names} /></td>
          <td class="wrap">${feedback_type}</td><td>${formatTime(created_at, false)}</td>
        </tr>`,
      )}</tbody>
    </table></div>
    ${(read.value?.length ?? 0) > limit && html`<button class="score-more" onClick=${() => setLimit(limit + STEP)}>More</button>`}
  </section>`
}
