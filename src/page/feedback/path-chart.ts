/** A value of payloads over time: numbers by their mean, booleans by their share, and how often any was given. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { requestJson } from '../api/client.ts'
import type { PayloadPath } from '../api/wire.ts'
import { endOfResponse } from '../parts/charts/buckets.ts'
import { Chart } from '../parts/charts/chart.ts'
import { CopyCurl } from '../parts/charts/copy-curl.ts'
import type { Line } from '../parts/charts/line.ts'
import { granularityOf, selectRange } from '../parts/charts/range.ts'
import { formatCount, formatNumber, formatShort } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { timeZone } from '../shell/settings.ts'
import type { FeedbackWindow } from './newest-rows.ts'

const MS_PER_S = 1000

interface FeedbackStats {
  readonly end: string
  /** Seconds of a bucket. */
  readonly granularity: number
  readonly buckets: readonly Readonly<Record<string, string | number | null>>[]
}

type ValueType = PayloadPath['value_type']

interface PathChartProps {
  readonly asked: FeedbackWindow
  readonly path: string
  readonly type: ValueType
}

/** What is measured of each type; texts are only counted. */
const MEASURED: Readonly<Record<ValueType, object>> = {
  numeric: { aggregations: ['avg', 'min', 'max', 'count'], percentiles: [50] },
  boolean: { aggregations: ['count_true', 'count_false'] },
  categorical: { aggregations: ['count'] },
}

function statsQueryOf({ start, end, ...rest }: FeedbackWindow, json_path: string, type: ValueType) {
  const range = { fromMs: Date.parse(start), toMs: Date.parse(end), preset: null }
  return {
    ...rest,
    start,
    end,
    granularity: granularityOf(range),
    timezone: timeZone(),
    metrics: [{ json_path, value_type: type, ...MEASURED[type] }],
  }
}

export function PathChart({ asked, path, type }: PathChartProps) {
  const question = statsQueryOf(asked, path, type)
  const stats = useLoad(JSON.stringify(question), (signal) =>
    requestJson<FeedbackStats>('/feedback/stats', question, { signal }),
  )
  const drawn = useMemo(
    () => (stats.value === null ? null : linesOf(stats.value, type)),
    [stats.value],
  )
  if (drawn === null)
    return html`<${Failure} words=${stats.failure} />${stats.isLoading && html`<${Loading} />`}`
  const { times, end, values, counts, given } = drawn
  const onZoom = (from: number, to: number) => selectRange(from * MS_PER_S, to * MS_PER_S)
  const shared = { times, end, onZoom, onChoose: () => undefined }
  return html`<div class="charts">
    ${
      values.length > 0 &&
      html`<section class="card">
      <header><h2>${path}</h2><${CopyCurl} path="/feedback/stats" body=${question} /></header>
      <${Chart} ...${shared} title=${path} lines=${values} format=${type === 'boolean' ? formatPercent : formatNumber} />
    </section>`
    }
    <section class="card">
      <header><h2>How often it was given: ${formatCount(given)}</h2><${CopyCurl} path="/feedback/stats" body=${question} /></header>
      <${Chart} ...${shared} title="How often it was given" lines=${counts} format=${formatShort} isBars />
    </section>
  </div>`
}

const formatPercent = (share: number) => `${formatNumber(share)} %`

function linesOf({ buckets, ...answer }: FeedbackStats, type: ValueType) {
  // Each aggregation is one key of a bucket; the server derives the end of the key from the path.
  const valuesOf = (start: string) =>
    buckets.map((bucket) => {
      const key = Object.keys(bucket).find((name) => name.startsWith(start))
      const value = key === undefined ? null : bucket[key]
      return typeof value === 'number' ? value : null
    })
  const yes = valuesOf('count_true_')
  const no = valuesOf('count_false_')
  const counts =
    type === 'boolean' ? yes.map((count, at) => (count ?? 0) + (no[at] ?? 0)) : valuesOf('count_')
  // The server averages an empty bucket to 0; here it has no value.
  const line = (label: string, values: readonly (number | null)[]): Line => ({
    label,
    values: values.map((value, at) => (counts[at] ? value : null)),
  })
  const share = yes.map((count, at) => (100 * (count ?? 0)) / (counts[at] || 1))
  const lines: Readonly<Record<ValueType, () => Line[]>> = {
    numeric: () => [
      line('average', valuesOf('avg_')),
      line('median', valuesOf('p50_')),
      line('least', valuesOf('min_')),
      line('most', valuesOf('max_')),
    ],
    boolean: () => [line('share of true', share)],
    categorical: () => [],
  }
  const times = buckets.map(({ timestamp }) => Date.parse(String(timestamp)) / MS_PER_S)
  return {
    times,
    end: endOfResponse(times, answer),
    values: lines[type](),
    counts: [{ label: 'times', values: counts }],
    given: counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
  }
}
