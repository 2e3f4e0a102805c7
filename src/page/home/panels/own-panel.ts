/** A panel that somebody made: reads its statistics and draws them. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { refScheme } from '../../api/ref-scheme.ts'
import type { StatsResponse } from '../../api/wire.ts'
import type { Line } from '../../parts/charts/line.ts'
import { rangeName } from '../../parts/charts/range.ts'
import { formatCost, formatMs, formatShort } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { usePause } from '../../parts/hooks/use-pause.ts'
import { Failure, Loading } from '../../parts/notice.ts'
import { timeZone } from '../../shell/settings.ts'
import { ChartCard, readStatistics } from '../charts.ts'
import { lineOf, linesByModel, measuresByModel, timesOf } from '../series.ts'
import { statsWindow } from '../shown-range.ts'
import { isSum, keyOf, METRICS, type OwnPanel, statsQueryOf, titleOf } from './panel.ts'

/** Between two reads of a range that ends now: of many panels each is read less often than the charts of all. */
const PAUSE_MS = 15_000
const FORMATS = { count: formatShort, ms: formatMs, dollars: formatCost }

interface OwnPanelCardProps {
  readonly project: string
  readonly panel: OwnPanel
  readonly isLive: boolean
}

export function OwnPanelCard({ project, panel, isLive }: OwnPanelCardProps) {
  const [turn, setTurn] = useState(0)
  const name = JSON.stringify([project, panel, rangeName.value, timeZone()])
  const stats = useLoad(
    name,
    (signal) => readStatistics(statsQueryOf(panel, statsWindow(project), refScheme()), signal),
    turn,
  )
  usePause(isLive && !stats.isLoading ? PAUSE_MS : null, () => setTurn((last) => last + 1))
  const response = stats.value?.response ?? null
  // The same lines for the same response: new ones would discard a selection being drawn on the chart.
  const drawn = useMemo(() => (response === null ? null : linesOf(panel, response)), [response])
  const title = titleOf(panel)
  if (stats.value === null || drawn === null)
    return html`<section class="card"><header><h2>${title}</h2></header>
      <${Failure} words=${stats.failure} />${stats.isLoading && html`<${Loading} />`}</section>`
  const unit = METRICS[panel.metric]?.unit ?? 'count'
  return html`<div class=${stats.isOther ? 'panel stale' : 'panel'} aria-busy=${stats.isOther}>
    <${ChartCard}
      ...${stats.value}
      ...${drawn}
      project=${project}
      names=${parametersOf(panel)}
      title=${title}
      format=${FORMATS[unit]}
      isDuration=${unit === 'ms'}
      isBars=${panel.kind === 'bars'}
    />
    <${Failure} words=${stats.failure} />
  </div>`
}

function linesOf(panel: OwnPanel, response: StatsResponse) {
  const { of, label } = METRICS[panel.metric] ?? {}
  const times = timesOf(response)
  if (of === 'usage_metrics') {
    const byModel = isSum(panel) ? linesByModel : measuresByModel
    return { times, lines: byModel(response, keyOf(panel)) }
  }
  const color = panel.metric === 'error_count' ? '--bad' : '--chart-1'
  const line: Line = lineOf(response, (label ?? '').toLowerCase(), keyOf(panel), color)
  if (isSum(panel)) return { times, lines: [line] }
  // A bucket without calls has no average.
  const values = line.values.map((value, at) => (response.call_buckets[at]?.count ? value : null))
  return { times, lines: [{ ...line, values }] }
}

/** Parameters of the list of the calls that a panel counts. */
function parametersOf({ metric, ops, endUsers, isRootsOnly }: OwnPanel): Record<string, string> {
  const condition = (start: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`${start}${values.map((text) => JSON.stringify(text)).join(',')}`]
  const conditions = [
    ...condition('op=', ops),
    ...condition('end-user:', endUsers),
    ...(metric === 'error_count' ? ['status:error'] : []),
  ]
  return {
    ...(conditions.length === 0 ? {} : { q: conditions.join(' ') }),
    ...(isRootsOnly ? {} : { all: '1' }),
  }
}
