/** Statements of the hours of statistics: their changes, how they are built, and what is read of them. */
import { anyOf, IS_NOT_DELETED } from '../calls/calls.sql.ts'

export const HOUR_US = 3_600_000_000

/** The hour of a time, also of one before 1970. */
export function hourOf(us: string): string {
  return `intDiv(${us} - positiveModulo(${us}, ${HOUR_US}), ${HOUR_US})`
}

/** Times in [fromUs, toUs). */
export type TimeRange = readonly [fromUs: number, toUs: number]

/** Condition for rows that began in one of some periods, by the sorting key. */
export function startedIn(ranges: readonly TimeRange[]): string {
  const one = ([from, to]: TimeRange) => `started_at_us >= ${from} AND started_at_us < ${to}`
  return `(${['false', ...ranges.map(one)].join('\n      OR ')})`
}

/** Changes of hours from which calls are removed, before they are (`begun`), or after that (`ended`). */
export function changeRemoved(column: 'begun' | 'ended'): string {
  return `
INSERT INTO hour_changes (project_id, hour, ${column}, changed_at)
SELECT
  project_id,
  hour,
  {mark:UInt64},
  now64(6)
FROM hour_changes
WHERE project_id = {project_id:String}
  AND hour >= ${hourOf('{from_us:Int64}')}
  AND hour <= ${hourOf('{to_us:Int64}')}
GROUP BY project_id, hour
`
}

/** Tables of what was built. */
export const BUILT_TABLES = ['hour_calls', 'hour_usage', 'hour_groups'] as const
type BuiltTable = (typeof BUILT_TABLES)[number]

function oldVersions(table: BuiltTable): string {
  return `
FROM ${table}
WHERE project_id = {project_id:String}
  AND hour IN {hours:Array(Int64)}
  AND version < {version:UInt64} - 3600000000`.trim()
}

/** Whether hours have versions from more than an hour ago, which no statement reads any more. */
export function hasOldVersions(table: BuiltTable): string {
  return `
SELECT 1 AS found
${oldVersions(table)}
LIMIT 1
`
}

export function deleteOldVersions(table: BuiltTable): string {
  return `
DELETE ${oldVersions(table)}
`
}

/** The process that builds: of those seen in the last 45 s the first by name. */
export const FIND_BUILDER = `
SELECT min(builder) AS builder
FROM hour_builders
WHERE seen_at > now64(6) - INTERVAL 45 SECOND
`

/**
 * Hours that have changed since they were built, at rest for some seconds, the newest first. A write that has not ended after
 * ten minutes is one whose process has died: it has been stored by then or never will be.
 *
 * @param isRecent - whether only hours that have changed in the last hour are read: there may be millions of others
 */
export function listUnbuilt(isRecent: boolean): string {
  const recent = `
  WHERE (project_id, hour) IN (
    SELECT
      project_id,
      hour
    FROM hour_changes
    WHERE changed_at > now64(6) - INTERVAL 1 HOUR
  )`
  const read = isRecent ? recent : ''
  return `
SELECT
  project_id,
  hour,
  toString(changes.begun) AS begun
FROM (
  SELECT
    project_id,
    hour,
    sum(begun) AS begun,
    sum(ended) AS ended,
    max(changed_at) AS at
  FROM hour_changes${read}
  GROUP BY project_id, hour
) AS changes
LEFT JOIN (
  SELECT
    project_id,
    hour,
    argMax(begun, version) AS built
  FROM built_hours${read}
  GROUP BY project_id, hour
) AS built USING (project_id, hour)
WHERE changes.begun != built.built
  AND project_id NOT IN {skipped:Array(String)}
  AND (
    (changes.begun = changes.ended AND changes.at <= now64(6) - toIntervalSecond({rest_s:UInt32}))
    OR changes.at <= now64(6) - INTERVAL 10 MINUTE
  )
ORDER BY project_id, hour DESC
LIMIT {limit:UInt32}
`
}

const NUMBERS = `
  sum(n_calls),
  sum(n_errors),
  sum(n_ended),
  sumIf(latency_ms * n_ended, n_ended > 0),
  minIf(latency_ms, n_ended > 0),
  maxIf(latency_ms, n_ended > 0),
  sumIf(n_ended, latency_ms = 1),
  sumIf(n_ended, latency_ms = 0),
  arraySort(groupArrayIf((assumeNotNull(latency_ms), n_ended), n_ended > 0)) AS sorted`.trimStart()

/** Builds hours of a project: of all calls, or of each op. FINAL: what two processes have stored counts once. */
export function buildHours(isOp: boolean, ranges: readonly TimeRange[]): string {
  const op = isOp ? 'op_name' : "''"
  return `
INSERT INTO hour_calls
SELECT
  {project_id:String},
  ${isOp ? 1 : 0},
  op,
  hour,
  {version:UInt64},
  * EXCEPT (op, hour, sorted, first_us, last_us),
  arrayMap(one -> one.1, sorted),
  arrayMap(sum -> toUInt32(sum), arrayCumSum(arrayMap(one -> one.2, sorted))),
  first_us,
  last_us
FROM (
  SELECT
    hour,
    op,
    ${NUMBERS},
    min(first_at) AS first_us,
    max(last_at) AS last_us
  FROM (
    SELECT
      ${hourOf('started_at_us')} AS hour,
      ${op} AS op,
      latency_ms,
      sum(has_start) AS n_calls,
      sum(is_error) AS n_errors,
      count(latency_ms) AS n_ended,
      min(started_at_us) AS first_at,
      max(started_at_us) AS last_at
    FROM calls FINAL
    WHERE project_id = {project_id:String}
      AND ${IS_NOT_DELETED}
      AND ${startedIn(ranges)}
    GROUP BY hour, op, latency_ms
  )
  GROUP BY hour, op
)
`
}

/** The number of calls of hours that were just built. */
export const COUNT_CALLS = `
SELECT
  hour,
  calls
FROM hour_calls
WHERE project_id = {project_id:String}
  AND is_op = 0
  AND op_name = ''
  AND hour IN {hours:Array(Int64)}
  AND version = {version:UInt64}
`

/** The built hours of a period whose calls have not changed since. */
export const LIST_BUILT = `
SELECT
  hour,
  built.newest AS version,
  built.n_calls AS calls
FROM (
  SELECT
    hour,
    sum(begun) AS begun
  FROM hour_changes
  WHERE project_id = {project_id:String} AND hour >= {from_hour:Int64} AND hour < {to_hour:Int64}
  GROUP BY hour
) AS changes
INNER JOIN (
  SELECT
    hour,
    max(version) AS newest,
    argMax(begun, version) AS built_from,
    argMax(calls, version) AS n_calls
  FROM built_hours
  WHERE project_id = {project_id:String} AND hour >= {from_hour:Int64} AND hour < {to_hour:Int64}
  GROUP BY hour
) AS built USING hour
WHERE changes.begun = built.built_from
ORDER BY hour
`

/**
 * Rows of built hours.
 *
 * @param hasOps - whether only those of some ops
 * @param isByOp - whether each op has rows of its own; they have in any case of some ops
 */
export function builtRows(table: BuiltTable, hasOps: boolean, isByOp = hasOps): string {
  const ofOps = hasOps ? `\n  AND ${anyOf('op_name', 'op_names')}` : ''
  return `
FROM ${table}
WHERE project_id = {project_id:String}
  AND is_op = ${isByOp ? 1 : 0}${ofOps}
  AND hour >= {from_hour:Int64}
  AND hour < {to_hour:Int64}
  AND (hour, version) IN (SELECT arrayJoin(arrayZip({hours:Array(Int64)}, {versions:Array(UInt64)})))`.trim()
}

/** The latency at the rank of each quantile, and the next one, from `latencies`, `up_to` and `ended`. */
export function selectRanks(shares: readonly number[]): string {
  const latencyAt = (rank: string) => `latencies[arrayFirstIndex(sum -> sum > ${rank}, up_to)]`
  const ranks = shares.map((share) => {
    const rank = `toInt64(floor(toFloat64(${share}) * (toInt64(ended) - 1)))`
    const next = `least(${rank} + 1, toInt64(ended) - 1)`
    return `if(ended = 0, [toInt64(0), toInt64(0)], [${latencyAt(rank)}, ${latencyAt(next)}])`
  })
  return `[${ranks.join(',\n    ')}]`
}

/** Sums by hour; `ranks` are those of the hour. */
export function sumHours(hasOps: boolean, shares: readonly number[]): string {
  return `
SELECT
  hour,
  calls,
  errors,
  ended,
  latency_sum,
  latency_min,
  latency_max,
  ones,
  zeros,
  ${selectRanks(shares)} AS ranks
${builtRows('hour_calls', hasOps)}
ORDER BY hour
`
}

/** The latencies of built hours, with how many calls took so long; follows FROM. */
export function builtLatencies(hasOps: boolean): string {
  return `
    SELECT
      hour * ${HOUR_US} AS started_at_us,
      latency,
      many
    FROM (
      SELECT
        hour,
        latencies,
        arrayMap((sum, before) -> toInt64(sum) - toInt64(before), up_to, arrayPushFront(arrayPopBack(up_to), 0)) AS counts
      ${builtRows('hour_calls', hasOps)}
        AND ended > 0
    )
    ARRAY JOIN
      latencies AS latency,
      counts AS many`.trim()
}
