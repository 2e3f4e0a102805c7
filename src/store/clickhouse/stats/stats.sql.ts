/** Statements of the statistics: sums by bucket, computed by ClickHouse, and rows where sums are not enough. */
import { COUNTERS } from '../../base/stats/sums.ts'
import { type FilterCondition, liveRows } from '../calls/calls.sql.ts'
import { builtLatencies, selectRanks, startedIn, type TimeRange } from '../hours/hours.sql.ts'
import { REQUESTS } from '../usage/requests.sql.ts'
import { SERVED, type UsageScope, usageRows, windowOf } from './usage-rows.sql.ts'

/** Up to this many calls of a window own usage is computed by a join: break-even with checking the stored values. */
export const JOINED_MAX = 50_000

/** The index of a time among the starts of buckets. */
function bucketOf(startsUs: Float64Array): string {
  // An empty window has no bucket and no row, but ClickHouse does not accept an empty list.
  const starts = startsUs.length === 0 ? '0' : startsUs.join(',')
  return `toInt64(roundDown(started_at_us, [${starts}]))`
}

/** CALL_NUMBERS of calls, besides the number of them. */
export const END_SUMS = `
    sum(is_error) AS errors,
    count(latency_ms) AS ended,
    sum(latency_ms) AS latency_sum,
    min(latency_ms) AS latency_min,
    max(latency_ms) AS latency_max,
    countIf(latency_ms = 1) AS ones,
    countIf(latency_ms = 0) AS zeros`.trim()
export const CALL_SUMS = `
    sum(has_start) AS calls,
    ${END_SUMS}`.trim()

/**
 * Calls by bucket. `ranks` has for each quantile the latency at its rank and the next one: the domain interpolates
 * between them, so that all stores round alike.
 *
 * @param shares - quantiles, 0..1; if empty, nothing is sorted
 */
export function sumCalls(
  conditions: readonly FilterCondition[],
  startsUs: Float64Array,
  shares: readonly number[],
  ranges: readonly TimeRange[] | null,
): string {
  const ranks = `
  arraySort(groupArray(latency_ms)) AS sorted,
  arrayMap(
    share -> [
      sorted[toUInt64(floor(share * (length(sorted) - 1))) + 1],
      sorted[least(toUInt64(floor(share * (length(sorted) - 1))) + 2, length(sorted))]
    ],
    [${shares.map((share) => `toFloat64(${share})`).join(', ')}]
  ) AS ranks`
  return `
SELECT bucket, calls, errors, ended, latency_sum, latency_min, latency_max, ones, zeros, ranks
FROM (
  SELECT
    ${bucketOf(startsUs)} AS bucket,
    ${CALL_SUMS},
    ${shares.length > 0 ? ranks.trimStart() : '[] AS ranks'}
  FROM calls
  WHERE ${windowOf(conditions, ranges)}
  GROUP BY bucket
)
ORDER BY bucket
`
}

/** `ranks` of buckets from built hours and from the rows of some times. */
export function rankLatencies(
  conditions: readonly FilterCondition[],
  startsUs: Float64Array,
  shares: readonly number[],
  ranges: readonly TimeRange[],
): string {
  return `
SELECT
  bucket,
  ended,
  ${selectRanks(shares)} AS ranks
FROM (
  SELECT
    bucket,
    arraySort(groupArray((latency, many))) AS sorted,
    arrayMap(one -> one.1, sorted) AS latencies,
    arrayCumSum(arrayMap(one -> one.2, sorted)) AS up_to,
    toInt64(up_to[-1]) AS ended
  FROM (
    SELECT
      bucket,
      latency,
      sum(many) AS many
    FROM (
      SELECT
        ${bucketOf(startsUs)} AS bucket,
        latency,
        many
      FROM (${builtLatencies(conditions.length > 0)})
      UNION ALL
      SELECT
        ${bucketOf(startsUs)} AS bucket,
        assumeNotNull(latency_ms) AS latency,
        toInt64(count()) AS many
      FROM calls
      WHERE ${windowOf(conditions, ranges)}
        AND latency_ms IS NOT NULL
      GROUP BY bucket, latency
    )
    GROUP BY bucket, latency
  )
  GROUP BY bucket
)
`
}

/**
 * Slots with calls whose stored own usage is based on other reports than those stored: one arrived later, was written
 * by another process, or was deleted.
 */
export const UNSETTLED = `
SELECT groupBitmapState(slot)
FROM (
  SELECT slot
  FROM (
    SELECT
      parent_slot AS slot,
      report_mark AS mark,
      0 AS noted
    FROM calls
    WHERE NOT is_short
      AND report_mark != 0
      AND ${liveRows([])}
    UNION ALL
    SELECT
      id_slot AS slot,
      0 AS mark,
      nested_mark AS noted
    FROM calls
    WHERE NOT is_short
      AND nested_mark != 0
      AND ${liveRows([])}
  )
  GROUP BY slot
  HAVING sum(mark) != sum(noted)
)
`

/** A row if a project has such slots. */
export const HAS_UNSETTLED = `
WITH 0 AS is_short
SELECT 1 AS found
WHERE bitmapCardinality((${UNSETTLED})) > 0
`

/** Looked up once per statement. A window of few calls is joined: finding the slots reads the whole project. */
export function withUnsettled({
  isOwn,
  isDoubled,
  isSettled = false,
  ranges = null,
}: UsageScope): string {
  if (!isOwn || isSettled) return ''
  return `
WITH
  (
    SELECT count() < {joined_max:UInt32}
    FROM (
      SELECT started_at_us
      FROM calls
      WHERE project_id = {project_id:String}
        AND started_at_us >= {start_us:Int64}
        AND started_at_us < {end_us:Int64}${ranges === null ? '' : `\n        AND ${startedIn(ranges)}`}
      LIMIT {joined_max:UInt32}
    )
  ) AS is_short,
  (${UNSETTLED}) AS unsettled${isDoubled ? `,${DOUBLED}` : ''}`.trim()
}

const DOUBLED = `
  (SELECT groupArray((id, parent_id, identity, counting)) FROM (${REQUESTS})) AS request_list,
  requests AS (
    SELECT
      tupleElement(request, 1) AS id,
      tupleElement(request, 2) AS parent_id,
      tupleElement(request, 3) AS identity,
      tupleElement(request, 4) AS counting
    FROM (SELECT arrayJoin(request_list) AS request)
  )`

/** USAGE_NUMBERS of rows of usage. */
export const USAGE_SUMS = `
  [
    toFloat64(count()),
    ${COUNTERS.map((counter) => `sum(toFloat64(${counter}))`).join(',\n    ')},
    max(toFloat64(uncached_input_tokens + cache_read_input_tokens + cache_creation_input_tokens))
  ] AS numbers`.trim()

/** Usage by bucket and model as it was served: numbers in the order of USAGE_NUMBERS. */
export function sumUsage(scope: UsageScope, startsUs: Float64Array): string {
  return `
${withUnsettled(scope)}
SELECT
  ${bucketOf(startsUs)} AS bucket,
  ${SERVED.join(',\n  ')},
  ${USAGE_SUMS}
FROM (${usageRows(scope)}
)
GROUP BY bucket, ${SERVED.join(', ')}
ORDER BY bucket
`
}

/** The rows themselves, in order of time. */
export function selectUsage(scope: UsageScope): string {
  return `
${withUnsettled(scope)}
SELECT
  started_at_us,
  ${[...SERVED, ...COUNTERS].join(',\n  ')}
FROM (${usageRows(scope)}
)
ORDER BY started_at_us
`
}
