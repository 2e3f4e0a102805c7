/** The time range of the overview: the part of a request that names it, and the way to the calls of one bucket. */
import { serverNow } from '../api/clock.ts'
import type { StatsQueryBody, StatsResponse, StatsWindow } from '../api/wire.ts'
import { granularityOf, readRange } from '../parts/charts/range.ts'
import { go } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { timeZone } from '../shell/settings.ts'

/** The range in the address, with its current times. */
export function statsWindow(project_id: string): StatsWindow {
  const range = readRange(serverNow())
  return {
    project_id,
    start: new Date(range.fromMs).toISOString(),
    end: new Date(range.toMs).toISOString(),
    granularity: granularityOf(range),
    timezone: timeZone(),
  }
}

/** The request for the charts of the range: calls, errors, latency, and tokens and costs by model. */
export function chartsRequest(project: string, filter?: StatsQueryBody['filter']): StatsQueryBody {
  return {
    ...statsWindow(project),
    ...(filter === undefined ? {} : { filter }),
    call_metrics: [
      { metric: 'call_count' },
      { metric: 'error_count' },
      { metric: 'latency_ms', aggregations: [], percentiles: [50, 95, 99] },
    ],
    usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
  }
}

/** Opens the list of the calls of a bucket. @param names - further parameters of the list */
export function showBucket(
  project: string,
  response: StatsResponse,
  index: number,
  names: Readonly<Record<string, string>>,
): void {
  // The first bucket may begin before the requested time, but counts nothing before it.
  const beginMs = Date.parse(response.call_buckets[index]?.timestamp ?? '')
  const fromMs = Math.max(beginMs, Date.parse(response.start))
  const toMs = Date.parse(response.call_buckets[index + 1]?.timestamp ?? response.end)
  const range = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
  go(`${pathTo(project, 'calls')}?${new URLSearchParams({ ...range, ...names })}`)
}
