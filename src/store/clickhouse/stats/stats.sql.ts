/** Statements of the statistics: sums by bucket, computed by ClickHouse, and rows where sums are not enough. */
import {
  COST_ROUNDING_MICROCENTS,
  HELD_COUNTERS,
  USAGE_COUNTERS,
} from '../../../domain/usage/own-usage.ts'
import { COUNTERS } from '../../base/stats/sums.ts'
import { type FilterCondition, liveRows } from '../calls/calls.sql.ts'

/** Sums stay below the largest integer that a double represents exactly. */
const SUM_MAX = Number.MAX_SAFE_INTEGER
/**
 * The bloom filter of `parent_id` is used for at most so many parents. With more of them its 1 % of false hits
 * lets nearly every granule pass, and preparing it for all parents of a month takes half of the CPU time (of
 * 1.7 s at 1M calls).
 */
const INDEXED_PARENTS_MAX = 500
/** What a client reports as the cost. */
const COST = 'reported_cost_microcents'
/** A model and what else decides its price. */
const SERVED = ['model', 'provider', 'upstream_model', 'service_tier', 'reports_cost']

/** The index of a time among the starts of buckets. */
function bucketOf(startsUs: Float64Array): string {
  // An empty window has no bucket and no row, but ClickHouse does not accept an empty list.
  const starts = startsUs.length === 0 ? '0' : startsUs.join(',')
  return `toInt64(roundDown(started_at_us, [${starts}]))`
}

function windowOf(conditions: readonly FilterCondition[]): string {
  return `${liveRows(conditions)}
  AND started_at_us >= {start_us:Int64}
  AND started_at_us < {end_us:Int64}`
}

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
    sum(has_start) AS calls,
    sum(is_error) AS errors,
    count(latency_ms) AS ended,
    sum(latency_ms) AS latency_sum,
    min(latency_ms) AS latency_min,
    max(latency_ms) AS latency_max,
    countIf(latency_ms = 1) AS ones,
    countIf(latency_ms = 0) AS zeros,
    ${shares.length > 0 ? ranks.trimStart() : '[] AS ranks'}
  FROM calls
  WHERE ${windowOf(conditions)}
  GROUP BY bucket
)
ORDER BY bucket
`
}

/** Rows of usage of a window: reported or own usage. */
function usageRows(conditions: readonly FilterCondition[], isOwn: boolean): string {
  return isOwn ? ownRows(conditions) : reportedRows(conditions)
}

const REPORT = `
  ${SERVED.map((column) => `usage.${column} AS ${column}`).join(',\n  ')},
  usage.tells_requests AS tells_requests,
  ${USAGE_COUNTERS.map((counter) => `usage.${counter} AS ${counter}`).join(',\n  ')}`.trimStart()

function reportedRows(conditions: readonly FilterCondition[]): string {
  return `
  SELECT
    started_at_us,
    id,
    ${REPORT}
  FROM calls
  ARRAY JOIN usage
  WHERE has_end = 1
    AND ${windowOf(conditions)}`
}

/** The own usage of each call: the stored value if still valid, else computed from the reports of its children. */
function ownRows(conditions: readonly FilterCondition[]): string {
  return `
  ${notedRows(conditions).trim()}
  UNION ALL
  ${joinedRows(conditions).trim()}`
}

function notedRows(conditions: readonly FilterCondition[]): string {
  const noted = (name: string) => `if(has_own = 1, own.${name}, usage.${name}) AS ${name}`
  return `
  SELECT
    started_at_us,
    ${[...SERVED, ...COUNTERS].join(',\n    ')}
  FROM calls
  ARRAY JOIN
    ${[...SERVED, ...COUNTERS].map(noted).join(',\n    ')}
  WHERE has_end = 1
    AND NOT is_short
    AND NOT bitmapContains(unsettled, id_slot)
    AND ${windowOf(conditions)}`
}

/** The sums of the reports of children, and the rest that remains for each call. */
function joinedRows(conditions: readonly FilterCondition[]): string {
  const nested = (counter: string) => `nested_${counter}`
  const holds = HELD_COUNTERS.map(
    (counter) => `toFloat64(reports.${counter}) >= ${nested(counter)}`,
  ).join(' AND ')
  // A report of nothing but a cost is measured by that.
  const holdsCost = `reports.input_tokens + reports.output_tokens + reports.total_tokens = 0
        AND reports.${COST} > 0
        AND toFloat64(reports.${COST}) + ${COST_ROUNDING_MICROCENTS} > ${nested(COST)}`
  const rest = (counter: string) =>
    `greatest(0, toFloat64(reports.${counter}) - ${nested(counter)})`
  const restOf = (counter: string) =>
    counter === COST
      ? `if(${rest(COST)} < ${COST_ROUNDING_MICROCENTS}, 0, ${rest(COST)})`
      : rest(counter)
  const isSome = USAGE_COUNTERS.map((counter) => `${nested(counter)} > 0`).join(' OR ')
  const left = USAGE_COUNTERS.map(
    (counter) => `
      toUInt64(if(
        takes,
        ${restOf(counter)},
        toFloat64(reports.${counter})
      )) AS ${counter}`,
  )
  return `
  SELECT
    started_at_us,
    ${[...SERVED, ...COUNTERS].join(',\n    ')}
  FROM (
    SELECT
      started_at_us,
      ${SERVED.join(',\n      ')},
      reports.tells_requests = 1 AND (${isSome}) AND (${holds} OR (${holdsCost})) AS takes,${left.join(',')}
    FROM (${reportedRows(conditions)}
      AND (is_short OR bitmapContains(unsettled, id_slot))) AS reports
    LEFT JOIN (${nestedReports(conditions)}) AS nested
      ON nested.parent = reports.id AND nested.nested_model = reports.model
    WHERE NOT takes OR ${USAGE_COUNTERS.map((counter) => `${counter} > 0`).join(' OR ')}
  )`
}

/** The reports of the children of the calls of a window, by call and model. */
function nestedReports(conditions: readonly FilterCondition[]): string {
  const sums = USAGE_COUNTERS.map((counter) => {
    const value =
      counter === 'requests' ? 'usage.requests * usage.tells_requests' : `usage.${counter}`
    return `least(sum(toFloat64(${value})), toFloat64(${SUM_MAX})) AS nested_${counter}`
  })
  return `
  SELECT
    assumeNotNull(parent_id) AS parent,
    usage.model AS nested_model,
    ${sums.join(',\n    ')}
  FROM calls
  ARRAY JOIN usage
  WHERE has_end = 1
    AND (is_short OR bitmapContains(unsettled, parent_slot))
    AND ${liveRows([])}
    AND parent_id != id
    AND parent_id IN (
      SELECT id
      FROM calls
      WHERE has(usage.tells_requests, 1)
        AND (is_short OR bitmapContains(unsettled, id_slot))
        AND ${windowOf(conditions)}
    )
  GROUP BY parent, nested_model
  SETTINGS use_index_for_in_with_subqueries_max_values = ${INDEXED_PARENTS_MAX}`
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

/** Looked up once per statement. A window of few calls is joined: finding the slots reads the whole project. */
function withUnsettled(isOwn: boolean): string {
  if (!isOwn) return ''
  return `
WITH
  (
    SELECT count() < {joined_max:UInt32}
    FROM (
      SELECT started_at_us
      FROM calls
      WHERE project_id = {project_id:String}
        AND started_at_us >= {start_us:Int64}
        AND started_at_us < {end_us:Int64}
      LIMIT {joined_max:UInt32}
    )
  ) AS is_short,
  (${UNSETTLED}) AS unsettled`.trim()
}

/** Usage by bucket and model as it was served: numbers in the order of USAGE_NUMBERS. */
export function sumUsage(
  conditions: readonly FilterCondition[],
  startsUs: Float64Array,
  isOwn: boolean,
): string {
  const paid = 'uncached_input_tokens + cache_read_input_tokens + cache_creation_input_tokens'
  return `
${withUnsettled(isOwn)}
SELECT
  ${bucketOf(startsUs)} AS bucket,
  ${SERVED.join(',\n  ')},
  [
    toFloat64(count()),
    ${COUNTERS.map((counter) => `sum(toFloat64(${counter}))`).join(',\n    ')},
    max(toFloat64(${paid}))
  ] AS numbers
FROM (${usageRows(conditions, isOwn)}
)
GROUP BY bucket, ${SERVED.join(', ')}
ORDER BY bucket
`
}

/** The rows themselves, in order of time. */
export function selectUsage(conditions: readonly FilterCondition[], isOwn: boolean): string {
  return `
${withUnsettled(isOwn)}
SELECT
  started_at_us,
  ${[...SERVED, ...COUNTERS].join(',\n  ')}
FROM (${usageRows(conditions, isOwn)}
)
ORDER BY started_at_us
`
}
