/** Aggregates numbers of payloads by bucket and over the whole window. Pure. */
import { ApiError } from '../../errors.ts'
import { createBucketCursor } from '../stats/bucket-cursor.ts'
import { type BucketTable, createBucketTable } from '../stats/bucket-table.ts'
import { type FeedbackMetrics, numbersOf } from './feedback-metrics.ts'

/** Limit: values that are buffered for percentiles, 16 bytes each. */
const RANKED_VALUES_MAX = 5_000_000

/** Values of the columns of the metrics. */
export interface FeedbackSums {
  readonly buckets: BucketTable
  /** The whole window as one bucket. */
  readonly whole: BucketTable
  /** How many values each metric has in the window, by slug. */
  readonly counts: Readonly<Record<string, number>>
}

/**
 * @param startsUs - where buckets begin, ascending
 * @throws ApiError validation_failed (param `start`) from `add` for too many values of percentiles
 */
export function createFeedbackSums({ metrics, columns }: FeedbackMetrics, startsUs: Float64Array) {
  const tables = [
    createBucketTable(columns, startsUs.length),
    createBucketTable(columns, 1),
  ] as const
  const [buckets, whole] = tables
  const cursor = createBucketCursor(startsUs, buckets.flush)
  const order = metrics.map(({ slug }) => buckets.metrics.indexOf(slug))
  const counts = metrics.map(() => 0)
  let ranked = 0

  function addNumbers(payload: unknown): void {
    for (const [at, metric] of metrics.entries()) {
      const index = order[at] as number
      for (const number of numbersOf(payload, metric)) {
        counts[at] = (counts[at] as number) + 1
        if (buckets.hasPercentiles(index)) ranked += 1
        for (const table of tables) table.add(index, number)
      }
    }
    if (ranked > RANKED_VALUES_MAX) throw tooMany()
  }

  return {
    /**
     * Takes feedback in order of time.
     *
     * @param payload_json - null when the payload is not read: the feedback is only counted
     */
    add(created_at_us: number, payload_json: string | null): void {
      cursor.moveTo(created_at_us)
      for (const table of tables) table.countRows(1)
      if (payload_json !== null) addNumbers(JSON.parse(payload_json))
    },
    end(): FeedbackSums {
      if (startsUs.length > 0) cursor.end()
      whole.flush(0)
      const bySlug = metrics.map(({ slug }, at) => [slug, counts[at] as number] as const)
      return { buckets: buckets.table, whole: whole.table, counts: Object.fromEntries(bySlug) }
    },
  }
}

function tooMany(): ApiError {
  const message = `Percentiles of more than ${RANKED_VALUES_MAX} values: ask for a shorter window.`
  return new ApiError('validation_failed', { param: 'start', message })
}
