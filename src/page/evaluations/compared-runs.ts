/** Runs side by side: what they ran, and each score with its difference from the first run. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCost, formatCount, formatMs, formatTime } from '../parts/format.ts'
import { parseRef, pathOfRef } from '../parts/values/refs.ts'
import { pathTo } from '../shell/page-route.ts'
import { Subject } from './run-columns.ts'
import type { Run } from './runs.ts'
import {
  formatDifference,
  formatScore,
  isBetterLow,
  isNeutral,
  namesOf,
  numberOf,
} from './scores.ts'

interface ComparedRunsProps {
  readonly project: string
  /** All others are compared with the first one. */
  readonly runs: readonly Run[]
}

export function ComparedRuns({ project, runs }: ComparedRunsProps) {
  const facts: [string, (run: Run) => ComponentChildren][] = [
    ['Evaluation', (run) => html`<${Subject} value=${run.evaluation} />`],
    ['Model', (run) => html`<${Model} run=${run} first=${runs[0]} />`],
    ['Status', (run) => html`<${StatusMark} status=${run.status} />`],
    ['Started', (run) => formatTime(run.started_at, false)],
  ]
  const measures: [string, (run: Run) => number | null, (value: number) => string][] = [
    ['latency', (run) => run.latencyMs, formatMs],
    ['latency of the model', (run) => run.modelLatencyMs, formatMs],
    ['tokens', (run) => run.tokens, formatCount],
    ['cost', (run) => run.cost, formatCost],
  ]
  const scores = namesOf(runs.map((run) => run.scores))
  return html`<div class="table compared-runs"><table class="compared">
    <thead><tr>
      <td></td>
      ${runs.map(
        (run, at) => html`<th key=${run.id} scope="col">
        <a class="clamped" title=${run.name} href=${pathTo(project, 'evaluations', run.id)}>${run.name}</a>${at === 0 && html` <span class="mark">baseline</span>`}
      </th>`,
      )}
    </tr></thead>
    <tbody>
      ${facts.map(([name, show]) => html`<tr key=${name}><th scope="row">${name}</th>${runs.map((run) => html`<td key=${run.id}>${show(run)}</td>`)}</tr>`)}
      ${scores.map((name) => html`<${ValueRow} key=${`score ${name}`} name=${name} runs=${runs} numberIn=${({ scores: own }: Run) => numberOf(own[name])} format=${formatScore} />`)}
      ${measures.map(([name, numberIn, format]) => html`<${ValueRow} key=${name} name=${name} runs=${runs} numberIn=${numberIn} format=${format} />`)}
    </tbody>
  </table></div>`
}

/** Shows the differences of the models if both are versions of the same one. */
function Model({ run, first }: { readonly run: Run; readonly first: Run | undefined }) {
  const [from, to] = [parseRef(first?.model), parseRef(run.model)]
  const isOther = from !== null && to !== null && from.name === to.name && from.digest !== to.digest
  const address = isOther ? pathOfRef(to) : null
  return html`<${Subject} value=${run.model} />
    ${address !== null && html` <a href=${`${address}?against=${encodeURIComponent(from?.digest ?? '')}`}>differences</a>`}`
}

interface ValueRowProps {
  readonly name: string
  readonly runs: readonly Run[]
  readonly numberIn: (run: Run) => number | null
  readonly format: (value: number) => string
}

function ValueRow({ name, runs, numberIn, format }: ValueRowProps) {
  const values = runs.map(numberIn)
  if (values.every((value) => value === null)) return null
  const [base = null] = values
  return html`<tr>
    <th scope="row">${name}</th>
    ${values.map(
      (value, at) => html`<td key=${runs[at]?.id} class="number">
      ${value === null ? '–' : format(value)}
      ${at > 0 && value !== null && base !== null && html` <${DifferenceMark} difference=${value - base} isLowBetter=${isBetterLow(name)} isNeutral=${isNeutral(name)} format=${format} />`}
    </td>`,
    )}
  </tr>`
}

interface DifferenceMarkProps {
  readonly difference: number
  readonly isLowBetter: boolean
  /** Whether neither way is better. */
  readonly isNeutral?: boolean
  readonly format?: (value: number) => string
}

/** A difference with its sign. Colour and a word say whether it is better. */
export function DifferenceMark({
  difference,
  isLowBetter,
  isNeutral = false,
  format,
}: DifferenceMarkProps) {
  if (difference === 0) return html`<span class="difference faint">±0</span>`
  const isBetter = difference > 0 !== isLowBetter
  const size =
    format === undefined || format === formatScore
      ? formatDifference(difference)
      : `${difference > 0 ? '+' : '−'}${format(Math.abs(difference))}`
  if (isNeutral) return html`<span class="difference faint">${size}</span>`
  return html`<span class=${`difference ${isBetter ? 'good' : 'bad'}`} title=${isBetter ? 'better' : 'worse'}>${size}</span>`
}
