/** A chart of statistics in a card, with its request. */
import { html } from 'htm/preact'
import type { StatsQueryBody } from '../api/wire.ts'
import { Chart } from '../parts/charts/chart.ts'
import type { ChartProps } from '../parts/charts/chart-props.ts'
import { CopyCurl } from '../parts/charts/copy-curl.ts'
import type { Line } from '../parts/charts/line.ts'

interface ChartCardProps extends ChartProps {
  readonly question: StatsQueryBody
}

export function ChartCard({ question, ...chart }: ChartCardProps) {
  const isEmpty = chart.lines.every(({ values }: Line) => values.every((value) => !value))
  return html`<section class="card">
    <header><h2>${chart.title}</h2><${CopyCurl} path="/calls/stats" body=${question} /></header>
    ${isEmpty ? html`<p class="nothing">none in this time</p>` : html`<${Chart} ...${chart} />`}
  </section>`
}
