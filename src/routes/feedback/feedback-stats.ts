/** Statistics over feedback; additions to the spec. */
import {
  renderWindowStats,
  resolveFeedbackMetrics,
} from '../../domain/feedback/feedback-metrics.ts'
import { resolveFeedbackWindow } from '../../domain/feedback/feedback-sample.ts'
import type { BucketTable } from '../../domain/stats/bucket-table.ts'
import {
  type BucketGrid,
  buildBucketGrid,
  doubleRoundS,
  HOUR_S,
  type TimeWindow,
} from '../../domain/stats/buckets.ts'
import type { StatColumn } from '../../domain/stats/metric-names.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
  FeedbackStatsRequest,
  FeedbackStatsResponse,
} from '../../schemas/feedback/feedback-stats.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { Stores } from '../../store/api/stores.ts'

/** Limit: values of one response. */
const VALUES_MAX = 500_000

type FeedbackStatsRoutesOptions = Pick<Stores, 'feedback'> & Pick<Clock, 'nowUs'>

export async function feedbackStatsRoutes(
  app: App,
  options: FeedbackStatsRoutesOptions,
): Promise<void> {
  addStats(app, options)
  addAggregate(app, options)
}

function addStats(app: App, { feedback, nowUs }: FeedbackStatsRoutesOptions): void {
  addProjectRead(
    app,
    '/feedback/stats',
    {
      tags: ['feedback'],
      operationId: 'getFeedbackStats',
      summary: 'Time-bucketed statistics of feedback payloads (addition to the spec).',
      description:
        'Numbers are doubles. The slug of a metric is its path, with one `_` for each run of characters that are not letters, digits or `_`, and none at its ends.',
      body: FeedbackStatsRequest,
      response: FeedbackStatsResponse,
    },
    async (body, caller) => {
      const { granularity, timezone } = body
      const window = resolveFeedbackWindow(body, nowUs())
      const metrics = resolveFeedbackMetrics(body.metrics)
      const { columns } = metrics
      const [start, end] = [renderTimestamp(window.start_us), renderTimestamp(window.end_us)]
      if (columns.length === 0) {
        return { start, end, granularity: HOUR_S, timezone, buckets: [], window_stats: {} }
      }
      const times = { startUs: window.start_us, endUs: window.end_us }
      const grid = gridFor(times, granularity ?? null, timezone, columns.length + 1)
      const { startsUs, granularityS } = grid
      const measured = await feedback.measureFeedback({ window, metrics, startsUs }, caller)
      return {
        start,
        end,
        granularity: granularityS,
        timezone,
        buckets: renderBuckets(startsUs, columns, measured.buckets),
        window_stats: renderWindowStats(metrics, measured.whole, measured.counts),
      }
    },
  )
}

/** Returns longer buckets than requested while there would be too many values. */
function gridFor(
  window: TimeWindow,
  granularity: number | null,
  timezone: string,
  valuesOfBucket: number,
): BucketGrid {
  let grid = buildBucketGrid(window, granularity, timezone)
  while (grid.startsUs.length > 1 && grid.startsUs.length * valuesOfBucket > VALUES_MAX) {
    grid = buildBucketGrid(window, doubleRoundS(grid.granularityS), timezone)
  }
  return grid
}

type Bucket = FeedbackStatsResponse['buckets'][number]

function renderBuckets(
  startsUs: Float64Array,
  columns: readonly StatColumn[],
  { count, values }: BucketTable,
): Bucket[] {
  return Array.from(startsUs, (startUs, bucket) => {
    const entries = columns.map(({ key }, at) => {
      const value = values[at]?.[bucket] ?? Number.NaN
      return [key, Number.isNaN(value) ? null : value] as const
    })
    const own = { timestamp: renderTimestamp(startUs), count: count[bucket] ?? 0 }
    // Why a cast: TypeScript cannot distinguish one key from the others.
    return { ...Object.fromEntries(entries), ...own } as unknown as Bucket
  })
}

function addAggregate(app: App, { feedback }: FeedbackStatsRoutesOptions): void {
  addProjectRead(
    app,
    '/feedback/aggregate',
    {
      tags: ['feedback'],
      operationId: 'aggregateFeedback',
      summary: 'Count tags and ratings of feedback by time and group (addition to the spec).',
      body: FeedbackAggregateRequest,
      response: FeedbackAggregateResponse,
    },
    async (body, caller) => {
      const { after_ms, before_ms, time_bucket_seconds } = body
      if (before_ms < after_ms) {
        const message = 'before_ms must not be before after_ms'
        throw new ApiError('validation_failed', { param: 'before_ms', message })
      }
      const buckets = await feedback.aggregateFeedback(body, caller)
      return { after_ms, before_ms, time_bucket_seconds: time_bucket_seconds ?? null, buckets }
    },
  )
}
