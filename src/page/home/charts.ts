/** Charts of statistics in cards, each with its request. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { requestJson } from '../api/client.ts'
import type { StatsQueryBody, StatsResponse } from '../api/wire.ts'
import { endOfResponse } from '../parts/charts/buckets.ts'
import { Chart } from '../parts/charts/chart.ts'
import type { ChartProps } from '../parts/charts/chart-props.ts'
import { CopyCurl } from '../parts/charts/copy-curl.ts'
import type { Line } from '../parts/charts/line.ts'
import { selectRange } from '../parts/charts/range.ts'
import { formatCost, formatMs, formatShort } from '../parts/format.ts'
import { type BuiltIn, TITLES } from './panels/panel.ts'
import type { linesOf } from './series.ts'
import { showBucket } from './shown-range.ts'

/** A query with its response. */
export interface Statistics {
  readonly query: StatsQueryBody
  readonly response: StatsResponse
}

export async function readStatistics(
  query: StatsQueryBody,
  signal: AbortSignal,
): Promise<Statistics> {
  return { query, response: await requestJson<StatsResponse>('/calls/stats', query, { signal }) }
}

interface ChartCardProps extends Omit<ChartProps, 'end' | 'onZoom' | 'onChoose'>, Statistics {
  readonly project: string
  /** Parameters of the list of the calls that are drawn. */
  readonly names: Readonly<Record<string, string>>
}

export function ChartCard({ query, response, project, names, ...chart }: ChartCardProps) {
  const isEmpty = chart.lines.every(({ values }: Line) => values.every((value) => !value))
  return html`<section class="card">
    <header><h2>${chart.title}</h2><${CopyCurl} path="/calls/stats" body=${query} /></header>
    ${
      isEmpty
        ? html`<p class="nothing">none in this time</p>`
        : html`<${Chart}
            ...${chart}
            end=${endOfResponse(chart.times, response)}
            onZoom=${(from: number, to: number) => selectRange(from * 1000, to * 1000)}
            onChoose=${(index: number) => showBucket(project, response, index, names)}
          />`
    }
  </section>`
}

interface BuiltInCharts extends Statistics {
  readonly project: string
  /** Of the response to `chartsRequest`. */
  readonly lines: ReturnType<typeof linesOf>
  /** Parameters of the list of the calls that are drawn. */
  readonly names: Readonly<Record<string, string>>
}

/** The charts that every overview has, of one response. */
export function builtInCharts({ lines, ...statistics }: BuiltInCharts) {
  const { times, calls, errors, latencies, tokens, costs } = lines
  const shared = { ...statistics, times }
  const charts: Readonly<Record<BuiltIn, ComponentChildren>> = {
    calls: html`<${ChartCard} ...${shared} title=${TITLES.calls} lines=${calls} format=${formatShort} isBars />`,
    errors: html`<${ChartCard} ...${shared} title=${TITLES.errors} lines=${errors} format=${formatShort} isBars />`,
    latency: html`<${ChartCard} ...${shared} title=${TITLES.latency} lines=${latencies} format=${formatMs} isDuration />`,
    tokens: html`<${ChartCard} ...${shared} title=${TITLES.tokens} lines=${tokens} format=${formatShort} />`,
    cost: html`<${ChartCard} ...${shared} title=${TITLES.cost} lines=${costs} format=${formatCost} />`,
  }
  return charts
}
