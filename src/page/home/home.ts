/** The home of a project: what happened over time. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { serverNow } from '../api/clock.ts'
import { rangeName, readRange, selectRange } from '../parts/charts/range.ts'
import { formatCost, formatCount, formatMs, formatShort, formatTime } from '../parts/format.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { usePause } from '../parts/hooks/use-pause.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { TimePicker } from '../parts/time/time-picker.ts'
import { pathTo } from '../shell/page-route.ts'
import { timeZone } from '../shell/settings.ts'
import { builtInCharts, readStatistics, type Statistics } from './charts.ts'
import { MetricCard } from './metric-card.ts'
import { PanelGrid } from './panels/panel-grid.ts'
import { type Panels, usePanels } from './panels/saved-panels.ts'
import { linesOf, sumOf, valuesOf } from './series.ts'
import { chartsRequest } from './shown-range.ts'
import { Tops } from './tops.ts'
import { readNewestStart, readTotals, type Totals } from './totals.ts'

const PAUSE_MS = 5000
/** Sums of the whole range are read again with every sixth chart. */
const TURNS_PER_TOTALS = 6

interface BothTotals {
  readonly now: Totals
  readonly before: Totals
}

/** The sums of the range, and of the time of the same length before it. */
async function readBoth(project: string, signal: AbortSignal): Promise<BothTotals> {
  const { fromMs, toMs } = readRange(serverNow())
  const [now, before] = await Promise.all([
    readTotals({ project, fromMs, toMs }, signal),
    readTotals({ project, fromMs: 2 * fromMs - toMs, toMs: fromMs }, signal),
  ])
  return { now, before }
}

export function Home({ project }: { readonly project: string }) {
  const isLive = readRange(0).preset !== null
  const [turn, setTurn] = useState(0)
  const name = `${project} ${rangeName.value} ${timeZone()}`
  const stats = useLoad(name, (signal) => readStatistics(chartsRequest(project), signal), turn)
  const panels = usePanels(project)
  const totals = useLoad(
    `totals ${name}`,
    (signal) => readBoth(project, signal),
    Math.floor(turn / TURNS_PER_TOTALS),
  )
  // Counted from the end of a response, so that a slow one is never aborted for the next.
  usePause(isLive && !stats.isLoading ? PAUSE_MS : null, () => setTurn((last) => last + 1))
  return html`<h1 class="hidden">Overview</h1>
    <${TimePicker} isLoading=${stats.isLoading} isLive=${isLive} />
    <${Failure} words=${stats.failure} />
    ${stats.value === null ? stats.isLoading && html`<${Loading} />` : html`<div class=${stats.isOther ? 'stale' : ''} aria-busy=${stats.isOther}><${Charts} project=${project} name=${name} totals=${totals} turn=${Math.floor(turn / TURNS_PER_TOTALS)} panels=${panels} isLive=${isLive} ...${stats.value} /></div>`}`
}

interface ChartsProps extends Statistics {
  /** Changes with the range of the address. */
  readonly name: string
  readonly totals: Loaded<BothTotals>
  /** A new number reads the lists of the top ones again. */
  readonly turn: number
  readonly panels: Panels
  readonly isLive: boolean
  readonly project: string
}

function Charts({ project, name, totals, turn, panels, isLive, query, response }: ChartsProps) {
  // The same lines for the same response: new ones would discard a selection being drawn on the chart.
  const lines = useMemo(() => linesOf(response), [response])
  if (sumOf(lines.calls) === 0) return html`<${NoCalls} project=${project} />`
  const charts = builtInCharts({ project, query, response, lines, names: { all: '1' } })
  const [fromMs, toMs] = [response.start, response.end].map((time) => Date.parse(time))
  return html`<${MetricCards} ...${lines} totals=${totals.isOther ? null : totals.value} />
    <${PanelGrid} project=${project} panels=${panels} isLive=${isLive} charts=${charts} />
    <${Tops} key=${project} project=${project} name=${name} turn=${turn} fromMs=${fromMs} toMs=${toMs} />`
}

/** Most projects have calls, so that the first view does without its module. */
const loadFirstTrace = async () => (await import('./first-trace.ts')).FirstTrace

/** Milliseconds around the newest call that a range without calls offers. */
const BEFORE_NEWEST_MS = 24 * 3_600_000
const BEHIND_NEWEST_MS = 60_000

/** For a time range without calls: the time of the newest calls, or, of a project without any, how to record some. */
function NoCalls({ project }: { readonly project: string }) {
  const newest = useLoad(`${project} ${rangeName.value}`, async (signal) => {
    const start = await readNewestStart(project, signal)
    return { start, FirstTrace: start === null ? await loadFirstTrace() : null }
  })
  if (newest.value === null)
    return html`<${Failure} words=${newest.failure} />${newest.isLoading && html`<${Loading} />`}`
  const { start, FirstTrace } = newest.value
  if (start === null) return html`<${FirstTrace} project=${project} />`
  const newestMs = Date.parse(start)
  const show = () => selectRange(newestMs - BEFORE_NEWEST_MS, newestMs + BEHIND_NEWEST_MS)
  return html`<p class="notice">No calls in this time. The newest call began at ${formatTime(start)}.</p>
    <div class="bar">
      <button class="main" onClick=${show}>Show the day before it</button>
      <a class="button" href=${pathTo(project, 'calls')}>See the newest calls</a>
    </div>`
}

interface MetricCardsProps extends ReturnType<typeof linesOf> {
  readonly totals: BothTotals | null
}

function MetricCards({ calls, errors, tokens, costs, latencies, totals }: MetricCardsProps) {
  const { now, before } = totals ?? { now: null, before: null }
  const [callCount, errorCount] = [sumOf(calls), sumOf(errors)]
  const cost = costs.length > 0 ? sumOf(costs) : null
  const rate = ((100 * errorCount) / callCount).toFixed(1)
  return html`<div class="figures">
    <${MetricCard} label="Calls" value=${formatCount(callCount)} change=${[callCount, before?.calls ?? null]} format=${formatCount} values=${valuesOf(calls)} color="spark-1" />
    <${MetricCard} label="Errors" value=${`${formatCount(errorCount)} (${rate} %)`} change=${[errorCount, before?.errors ?? null]} format=${formatCount} values=${valuesOf(errors)} color="spark-bad" isBad />
    <${MetricCard} label="Latency, p95" value=${now === null ? '…' : now.p95 === null ? '–' : formatMs(now.p95)} change=${[now?.p95 ?? null, before?.p95 ?? null]} format=${formatMs} values=${valuesOf(latencies.slice(1, 2))} color="spark-2" isBad />
    <${MetricCard} label="Tokens" value=${formatShort(sumOf(tokens))} change=${[sumOf(tokens), before?.tokens ?? null]} format=${formatShort} values=${valuesOf(tokens)} color="spark-1" />
    <${MetricCard} label="Cost" value=${cost === null ? html`<span title="no model of these calls has a price">–</span>` : formatCost(cost)} change=${[cost, before === null ? null : (before.cost ?? 0)]} format=${formatCost} values=${valuesOf(costs)} color="spark-4" />
  </div>`
}
