/** The home of a project: what happened over time. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { requestJson, requestLines } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import type { Call, StatsQueryBody, StatsResponse } from '../api/wire.ts'
import { endOfResponse } from '../parts/charts/buckets.ts'
import { rangeName, readRange, selectRange } from '../parts/charts/range.ts'
import { formatCost, formatCount, formatMs, formatShort, formatTime } from '../parts/format.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { usePause } from '../parts/hooks/use-pause.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { TimePicker } from '../parts/time/time-picker.ts'
import { pathTo } from '../shell/page-route.ts'
import { timeZone } from '../shell/settings.ts'
import { ChartCard } from './chart-card.ts'
import { FirstTrace } from './first-trace.ts'
import { MetricCard } from './metric-card.ts'
import { PanelGrid } from './panels/panel-grid.ts'
import { type Panels, usePanels } from './panels/saved-panels.ts'
import { linesOf, sumOf, valuesOf } from './series.ts'
import { chartsRequest, showBucket } from './shown-range.ts'
import { Tops } from './tops.ts'
import { readTotals, type Totals } from './totals.ts'

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
  const read = async (signal: AbortSignal) => {
    const question = chartsRequest(project)
    return {
      question,
      answer: await requestJson<StatsResponse>('/calls/stats', question, { signal }),
    }
  }
  const stats = useLoad(name, read, turn)
  const panels = usePanels(project)
  const totals = useLoad(
    `totals ${name}`,
    (signal) => readBoth(project, signal),
    Math.floor(turn / TURNS_PER_TOTALS),
  )
  // Counted from the end of an answer, so that a slow one is never aborted for the next.
  usePause(isLive && !stats.isLoading ? PAUSE_MS : null, () => setTurn(turn + 1))
  return html`<h1 class="hidden">Overview</h1>
    <${TimePicker} isLoading=${stats.isLoading} isLive=${isLive} />
    <${Failure} words=${stats.failure} />
    ${stats.value === null ? stats.isLoading && html`<${Loading} />` : html`<div class=${stats.isOther ? 'stale' : ''} aria-busy=${stats.isOther}><${Charts} project=${project} name=${name} totals=${totals} turn=${Math.floor(turn / TURNS_PER_TOTALS)} panels=${panels} isLive=${isLive} ...${stats.value} /></div>`}`
}

interface ChartsProps {
  /** Changes with the range of the address. */
  readonly name: string
  readonly totals: Loaded<BothTotals>
  /** A new number reads the lists of the top ones again. */
  readonly turn: number
  readonly panels: Panels
  readonly isLive: boolean
  readonly project: string
  readonly question: StatsQueryBody
  readonly answer: StatsResponse
}

function Charts({ project, name, totals, turn, panels, isLive, question, answer }: ChartsProps) {
  // The same lines for the same answer: new ones would discard a selection being drawn on the chart.
  const { calls, errors, tokens, costs, latencies, times } = useMemo(
    () => linesOf(answer),
    [answer],
  )
  if (sumOf(calls) === 0) return html`<${NoCalls} project=${project} />`
  const shared = {
    times,
    end: endOfResponse(times, answer),
    question,
    onZoom: (from: number, to: number) => selectRange(from * 1000, to * 1000),
    onChoose: (index: number) => showBucket(project, answer, index),
  }
  const [fromMs, toMs] = [answer.start, answer.end].map((time) => Date.parse(time))
  return html`<${MetricCards} ...${{ calls, errors, tokens, costs, latencies }} totals=${totals.isOther ? null : totals.value} />
    <${PanelGrid} project=${project} panels=${panels} isLive=${isLive} charts=${{
      calls: html`<${ChartCard} ...${shared} title="Calls" lines=${calls} format=${formatShort} isBars />`,
      errors: html`<${ChartCard} ...${shared} title="Errors" lines=${errors} format=${formatShort} isBars />`,
      latency: html`<${ChartCard} ...${shared} title="Latency" lines=${latencies} format=${formatMs} isDuration />`,
      tokens: html`<${ChartCard} ...${shared} title="Tokens by model" lines=${tokens} format=${formatShort} />`,
      cost: html`<${ChartCard} ...${shared} title="Cost by model" lines=${costs} format=${formatCost} />`,
    }} />
    <${Tops} key=${project} project=${project} name=${name} turn=${turn} fromMs=${fromMs} toMs=${toMs} />`
}

/** Milliseconds around the newest call that a range without calls offers. */
const BEFORE_NEWEST_MS = 24 * 3_600_000
const BEHIND_NEWEST_MS = 60_000

/** The start of the newest call. @returns milliseconds; null if the project has none */
async function readNewest(project_id: string, signal: AbortSignal) {
  const question = {
    project_id,
    columns: ['started_at'],
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    limit: 1,
  }
  let newestMs: number | null = null
  for await (const call of requestLines<Call>('/calls/stream_query', question, { signal })) {
    newestMs = Date.parse(call.started_at)
  }
  return { newestMs }
}

/** For a time range without calls: the time of the newest calls, if the project has any. */
function NoCalls({ project }: { readonly project: string }) {
  const newest = useLoad(`${project} ${rangeName.value}`, (signal) => readNewest(project, signal))
  if (newest.value === null)
    return html`<${Failure} words=${newest.failure} />${newest.isLoading && html`<${Loading} />`}`
  const { newestMs } = newest.value
  if (newestMs === null) return html`<${FirstTrace} project=${project} />`
  const show = () => selectRange(newestMs - BEFORE_NEWEST_MS, newestMs + BEHIND_NEWEST_MS)
  return html`<p class="notice">No calls in this time. The newest call began at ${formatTime(new Date(newestMs).toISOString())}.</p>
    <div class="bar">
      <button class="main" onClick=${show}>Show the day before it</button>
      <a class="button" href=${pathTo(project, 'calls')}>See the newest calls</a>
    </div>`
}

interface MetricCardsProps extends Omit<ReturnType<typeof linesOf>, 'times'> {
  readonly totals: BothTotals | null
}

function MetricCards({ calls, errors, tokens, costs, latencies, totals }: MetricCardsProps) {
  const { now, before } = totals ?? { now: null, before: null }
  const [callCount, errorCount] = [sumOf(calls), sumOf(errors)]
  const cost = costs.length > 0 ? sumOf(costs) : null
  const rate = ((100 * errorCount) / callCount).toFixed(1)
  return html`<div class="figures">
    <${MetricCard} label="calls" value=${formatCount(callCount)} change=${[callCount, before?.calls ?? null]} format=${formatCount} values=${valuesOf(calls)} color="spark-1" />
    <${MetricCard} label="errors" value=${`${formatCount(errorCount)} (${rate} %)`} change=${[errorCount, before?.errors ?? null]} format=${formatCount} values=${valuesOf(errors)} color="spark-bad" isBad />
    <${MetricCard} label="latency, p95" value=${now === null ? '…' : now.p95 === null ? '–' : formatMs(now.p95)} change=${[now?.p95 ?? null, before?.p95 ?? null]} format=${formatMs} values=${valuesOf(latencies.slice(1, 2))} color="spark-2" isBad />
    <${MetricCard} label="tokens" value=${formatShort(sumOf(tokens))} change=${[sumOf(tokens), before?.tokens ?? null]} format=${formatShort} values=${valuesOf(tokens)} color="spark-1" />
    <${MetricCard} label="cost" value=${cost === null ? html`<span title="no model of these calls has a price">–</span>` : formatCost(cost)} change=${[cost, before === null ? null : (before.cost ?? 0)]} format=${formatCost} values=${valuesOf(costs)} color="spark-4" />
  </div>`
}
