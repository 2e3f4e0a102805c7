/** A number of payloads over time. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { requestJson } from '../api/client.ts'
import { endOfResponse } from '../parts/charts/buckets.ts'
import { Chart } from '../parts/charts/chart.ts'
import { CopyCurl } from '../parts/charts/copy-curl.ts'
import type { Line } from '../parts/charts/line.ts'
import { granularityOf, selectRange } from '../parts/charts/range.ts'
import { formatCount, formatNumber, formatShort } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { timeZone } from '../shell/settings.ts'
import type { FeedbackWindow } from './window.ts'

const MS_PER_S = 1000

interface FeedbackStats {
  readonly end: string
  /** Seconds of a bucket. */
  readonly granularity: number
  readonly buckets: readonly Readonly<Record<string, string | number | null>>[]
}

interface PathChartProps {
  readonly asked: FeedbackWindow
  readonly path: string
}

function statsQueryOf({ start, end, ...rest }: FeedbackWindow, json_path: string) {
  const range = { fromMs: Date.parse(start), toMs: Date.parse(end), preset: null }
  const metric = { json_path, value_type: 'numeric', aggregations: ['avg', 'min', 'max', 'count'] }
  return {
    ...rest,
    start,
    end,
    granularity: granularityOf(range),
    timezone: timeZone(),
    metrics: [{ ...metric, percentiles: [50] }],
  }
}

export function PathChart({ asked, path }: PathChartProps) {
  const question = statsQueryOf(asked, path)
  const stats = useLoad(JSON.stringify(question), (signal) =>
    requestJson<FeedbackStats>('/feedback/stats', question, { signal }),
  )
  const drawn = useMemo(() => (stats.value === null ? null : linesOf(stats.value)), [stats.value])
  if (drawn === null)
    return html`<${Failure} words=${stats.failure} />${stats.isLoading && html`<${Loading} />`}`
  const { times, end, values, counts, given } = drawn
  const onZoom = (from: number, to: number) => selectRange(from * MS_PER_S, to * MS_PER_S)
  const shared = { times, end, onZoom, onChoose: () => undefined }
  return html`<div class="charts">
    <section class="card">
      <header><h2>${path}</h2><${CopyCurl} path="/feedback/stats" body=${question} /></header>
      <${Chart} ...${shared} title=${path} lines=${values} format=${formatNumber} />
    </section>
    <section class="card">
      <header><h2>How often it was given: ${formatCount(given)}</h2><${CopyCurl} path="/feedback/stats" body=${question} /></header>
      <${Chart} ...${shared} title="How often it was given" lines=${counts} format=${formatShort} isBars />
    </section>
  </div>`
}

function linesOf({ buckets, ...answer }: FeedbackStats) {
  // Each aggregation is one key of a bucket; the server derives the end of the key from the path.
  const valuesOf = (start: string) =>
    buckets.map((bucket) => {
      const key = Object.keys(bucket).find((name) => name.startsWith(start))
      const value = key === undefined ? null : bucket[key]
      return typeof value === 'number' ? value : null
    })
  const counts = valuesOf('count_')
  // The server averages an empty bucket to 0; here it has no value.
  const line = (label: string, start: string): Line => ({
    label,
    values: valuesOf(start).map((value, at) => (counts[at] ? value : null)),
  })
  const times = buckets.map(({ timestamp }) => Date.parse(String(timestamp)) / MS_PER_S)
  return {
    times,
    end: endOfResponse(times, answer),
    values: [
      line('average', 'avg_'),
      line('median', 'p50_'),
      line('least', 'min_'),
      line('most', 'max_'),
    ],
    counts: [{ label: 'times', values: counts }],
    given: counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
  }
}
