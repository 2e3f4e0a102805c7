/** Statements of the rows of usage: as reported, or what calls used themselves. */
import {
  COST_ROUNDING_MICROCENTS,
  HELD_COUNTERS,
  USAGE_COUNTERS,
} from '../../../domain/usage/own-usage.ts'
import { COUNTERS } from '../../base/stats/sums.ts'
import { type FilterCondition, liveRows } from '../calls/calls.sql.ts'
import { startedIn, type TimeRange } from '../hours/hours.sql.ts'

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
export const SERVED = ['model', 'provider', 'upstream_model', 'service_tier', 'reports_cost']

/** @param ranges - the times of the window that are read; null: all of it */
export function windowOf(
  conditions: readonly FilterCondition[],
  ranges: readonly TimeRange[] | null = null,
): string {
  return `${liveRows(conditions)}
  AND started_at_us >= {start_us:Int64}
  AND started_at_us < {end_us:Int64}${ranges === null ? '' : `\n  AND ${startedIn(ranges)}`}`
}

/** Which rows of usage are read, and how they count. */
export interface UsageScope {
  readonly conditions: readonly FilterCondition[]
  readonly isOwn: boolean
  /** Whether requests of the project have several calls, which makes a statement longer and slower. */
  readonly isDoubled: boolean
  /** Columns of the calls that rows have in addition to their time and what they count. */
  readonly callColumns?: readonly string[]
  /** Times of the window that are read; default: all of it. */
  readonly ranges?: readonly TimeRange[] | null
  /** Whether rows that two processes have stored of one call count once, before a merge makes them one. */
  readonly isMerged?: boolean
  /** Whether the stored own usage of all calls is valid, which makes a statement shorter and faster to plan. */
  readonly isSettled?: boolean
}

/** Columns of the calls, each followed by a comma. */
function ofCalls({ callColumns = [] }: UsageScope): string {
  return callColumns.map((column) => `\n    ${column},`).join('')
}

/** Rows of usage of a window: reported or own usage. */
export function usageRows(scope: UsageScope): string {
  return scope.isOwn ? ownRows(scope) : reportedRows(scope)
}

const REPORT = `
  ${SERVED.map((column) => `report.${column} AS ${column}`).join(',\n  ')},
  report.tells_requests AS tells_requests,
  length(usage.model) AS models,
  ${USAGE_COUNTERS.map((counter) => `report.${counter} AS ${counter}`).join(',\n  ')}`.trimStart()

function reportedRows(scope: UsageScope): string {
  return `
  SELECT
    started_at_us,
    id,${ofCalls({ ...scope, callColumns: scope.callColumns?.filter((column) => column !== 'id') ?? [] })}
    ${REPORT}
  FROM calls${scope.isMerged ? ' FINAL' : ''}
  ARRAY JOIN usage AS report
  WHERE has_end = 1
    AND ${windowOf(scope.conditions, scope.ranges)}`
}

/** The own usage of each call: the stored value if still valid, else computed from the reports of its children. */
function ownRows(scope: UsageScope): string {
  const joined = scope.isSettled ? [] : [joinedRows(scope)]
  return `
  ${[notedRows(scope), ...joined].map((rows) => rows.trim()).join('\n  UNION ALL\n  ')}`
}

function notedRows(scope: UsageScope): string {
  const noted = (name: string) => `if(has_own = 1, own.${name}, usage.${name}) AS ${name}`
  return `
  SELECT
    started_at_us,${ofCalls(scope)}
    ${[...SERVED, ...COUNTERS].join(',\n    ')}
  FROM calls${scope.isMerged ? ' FINAL' : ''}
  ARRAY JOIN
    ${[...SERVED, ...COUNTERS].map(noted).join(',\n    ')}
  WHERE has_end = 1
    ${scope.isSettled ? '' : `AND NOT ${isJoined(scope, 'id_slot', 'id')}`}
    ${isNoRepeat(scope)}
    AND ${windowOf(scope.conditions, scope.ranges)}`
}

/** Leaves out the calls that another one counts in place of. */
function isNoRepeat({ isDoubled }: UsageScope): string {
  return isDoubled ? 'AND id NOT IN (SELECT id FROM requests WHERE id != counting)' : ''
}

/**
 * Whether what a call used itself is computed from the reports of its children: those of a request with several calls may
 * be among them.
 */
function isJoined({ isDoubled }: UsageScope, slot: string, id: string): string {
  return `(
      is_short
      OR bitmapContains(unsettled, ${slot})
      ${isDoubled ? `OR ${id} IN (SELECT parent_id FROM requests)` : ''}
    )`
}

/** The sums of the reports of children, and the rest that remains for each call. */
function joinedRows(scope: UsageScope): string {
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
    started_at_us,${ofCalls(scope)}
    ${[...SERVED, ...COUNTERS].join(',\n    ')}
  FROM (
    SELECT
      started_at_us,${ofCalls(scope)}
      ${SERVED.join(',\n      ')},
      reports.tells_requests = 1 AND (${isSome}) AND (${holds} OR (${holdsCost})) AS takes,${left.join(',')}
    FROM (${reportedRows(scope)}
      AND ${isJoined(scope, 'id_slot', 'id')}
      ${isNoRepeat(scope)}) AS reports
    LEFT JOIN (${nestedReports(scope)}) AS nested
      ON nested.parent = reports.id AND nested.nested_model = reports.model
    LEFT JOIN (${sumsBelow(scope)}) AS below ON below.parent = reports.id
    WHERE NOT (
        reports.models = 1
        AND reports.input_tokens + reports.output_tokens > 0
        AND toFloat64(reports.input_tokens) = below.below_input
        AND toFloat64(reports.output_tokens) = below.below_output
      )
      AND (NOT takes OR ${USAGE_COUNTERS.map((counter) => `${counter} > 0`).join(' OR ')})
  )`
}

/** The reports of the children of the calls of a window, by call and model. */
function nestedReports(scope: UsageScope): string {
  const sums = USAGE_COUNTERS.map((counter) => {
    const value =
      counter === 'requests' ? 'report.requests * report.tells_requests' : `report.${counter}`
    return `least(sum(toFloat64(${value})), toFloat64(${SUM_MAX})) AS nested_${counter}`
  })
  return `
  SELECT
    parent,
    report.model AS nested_model,
    ${sums.join(',\n    ')}
  FROM (${children(scope)})
  ARRAY JOIN usage AS report
  GROUP BY parent, nested_model
  SETTINGS use_index_for_in_with_subqueries_max_values = ${INDEXED_PARENTS_MAX}`
}

/** What the children report of all models, by call. */
function sumsBelow(scope: UsageScope): string {
  const sum = (counter: string) =>
    `least(sum(toFloat64(arraySum(usage.${counter}))), toFloat64(${SUM_MAX}))`
  return `
  SELECT
    parent,
    ${sum('input_tokens')} AS below_input,
    ${sum('output_tokens')} AS below_output
  FROM (${children(scope)})
  GROUP BY parent
  SETTINGS use_index_for_in_with_subqueries_max_values = ${INDEXED_PARENTS_MAX}`
}

/**
 * The children of the calls of a window that report: of those of one request the first by id. Not those of the call's own
 * request, and not its parent, if that is the earlier one of the two.
 */
function children(scope: UsageScope): string {
  return `
  SELECT
    child.parent AS parent,
    ${['model', 'tells_requests', ...USAGE_COUNTERS].map((name) => `usage.${name}`).join(',\n    ')}
  FROM (
    SELECT
      id,
      started_at_us,
      assumeNotNull(parent_id) AS parent,
      ${['model', 'tells_requests', ...USAGE_COUNTERS].map((name) => `usage.${name}`).join(',\n      ')}
    FROM calls
    WHERE has_end = 1
      AND notEmpty(usage.model)
      AND ${isJoined(scope, 'parent_slot', 'parent_id')}
      AND ${liveRows([])}
      AND parent_id != id
      AND parent_id IN (${parentsOf(scope)})${scope.isMerged ? '\n    LIMIT 1 BY id' : ''}
  ) AS child
  INNER JOIN (${parentsOf(scope, ', parent_id, started_at_us')}) AS above ON above.id = child.parent
  ${
    scope.isDoubled
      ? `LEFT JOIN requests AS request ON request.id = child.id
  LEFT JOIN requests AS request_above ON request_above.id = child.parent`
      : ''
  }
  WHERE NOT (
      ifNull(above.parent_id = child.id, 0)
      AND (child.started_at_us, child.id) < (above.started_at_us, above.id)
    )
  ${scope.isDoubled ? OF_EACH_REQUEST : ''}`
}

/** Of children by the requests of theirs and of their parents. */
const OF_EACH_REQUEST = `
    AND (request.identity = '' OR request.identity != request_above.identity)
  ORDER BY child.id
  LIMIT 1 BY parent, if(request.identity = '', child.id, request.identity)`

function parentsOf(scope: UsageScope, columns = ''): string {
  return `
      SELECT DISTINCT id${columns}
      FROM calls
      WHERE has_end = 1
        AND notEmpty(usage.model)
        AND ${isJoined(scope, 'id_slot', 'id')}
        AND ${windowOf(scope.conditions, scope.ranges)}`
}
