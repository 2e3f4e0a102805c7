/** Statements of the statistics by groups of calls: sums by name, and rows where sums are not enough. */

import type { StatsGroupField } from '../../../schemas/stats/stats-groups.ts'
import { COUNTERS } from '../../base/stats/sums.ts'
import type { FilterCondition } from '../calls/calls.sql.ts'
import type { TimeRange } from '../hours/hours.sql.ts'
import { CALL_SUMS, END_SUMS, USAGE_SUMS, withUnsettled } from './stats.sql.ts'
import { SERVED, type UsageScope, usageRows, windowOf } from './usage-rows.sql.ts'

/** What each field groups by; of a failed call its exception, whose type the domain reads. */
export const NAMES: Readonly<Record<StatsGroupField, string>> = {
  op_name: 'op_name',
  svc_user_id: 'svc_user_id',
  end_user_id: 'end_user_id',
  model: 'model',
  provider: "nullIf(provider, '')",
  status: "multiIf(has_end = 0, 'running', is_error = 1, 'error', 'success')",
  error_type: 'exception',
}

/** Columns of the calls that the name of their usage needs. */
const NAME_COLUMNS: Readonly<Record<StatsGroupField, readonly string[]>> = {
  op_name: ['op_name'],
  svc_user_id: ['svc_user_id'],
  end_user_id: ['end_user_id'],
  model: [],
  provider: [],
  status: ['has_end', 'is_error'],
  error_type: ['exception'],
}

/** Calls by what they have themselves. @param ranges - the times of the window that are read; null: all of it */
export function groupCalls(
  field: StatsGroupField,
  conditions: readonly FilterCondition[],
  ranges: readonly TimeRange[] | null,
): string {
  const isFailed = field === 'error_type'
  return `
SELECT
  ${NAMES[field]} AS name,
  ${isFailed ? `count() AS calls,\n  ${END_SUMS}` : CALL_SUMS},
  min(started_at_us) AS first_us,
  max(started_at_us) AS last_us
FROM calls
WHERE ${windowOf(conditions, ranges)}${isFailed ? '\n  AND exception IS NOT NULL' : ''}
GROUP BY name
`
}

/**
 * Each call of a window once, with the models and providers of its usage that counts; follows FROM.
 *
 * @param columns - of the calls, besides `id`, `latency_ms` and `is_error`
 */
export function callsOfUsage(scope: UsageScope, columns: readonly string[] = []): string {
  const all = [...columns, 'latency_ms', 'is_error']
  const named = all.map((column) => `${column} AS call_${column}`).join(',\n        ')
  // Rows of usage have the time of their call in any case.
  const callColumns = ['id', ...all.filter((column) => column !== 'started_at_us')]
  return `
    SELECT
      ${all.map((column) => `max(call_${column}) AS ${column}`).join(',\n      ')},
      arrayDistinct(groupArrayIf(of_model, is_usage)) AS models,
      arrayDistinct(groupArrayIf(of_provider, is_usage)) AS providers
    FROM (
      SELECT
        id,
        ${named},
        '' AS of_model,
        '' AS of_provider,
        0 AS is_usage
      FROM calls${scope.isMerged ? ' FINAL' : ''}
      WHERE ${windowOf(scope.conditions, scope.ranges)}
      UNION ALL
      SELECT
        id,
        ${named},
        model,
        provider,
        1
      FROM (${usageRows({ ...scope, callColumns })}
      )
    )
    GROUP BY id`
}

/** The names of a call by its usage: NULL where there is none. */
export function namesOfUsage(field: 'model' | 'provider'): string {
  const some =
    field === 'model'
      ? 'arrayMap(one -> toNullable(one), models)'
      : "arrayMap(one -> nullIf(one, ''), providers)"
  return `if(empty(models), [NULL], ${some})`
}

/** Calls by what their usage names. */
export function groupCallsByUsage(field: 'model' | 'provider', scope: UsageScope): string {
  return `
${withUnsettled(scope)}
SELECT
  arrayJoin(${namesOfUsage(field)}) AS name,
  count() AS calls,
  ${END_SUMS}
FROM (${callsOfUsage(scope)}
)
GROUP BY name
`
}

function namedUsage(field: StatsGroupField, scope: UsageScope): string {
  return `
FROM (${usageRows({ ...scope, callColumns: NAME_COLUMNS[field] })}
)${field === 'error_type' ? '\nWHERE exception IS NOT NULL' : ''}`.trim()
}

/** Usage by name and model as it was served: numbers in the order of USAGE_NUMBERS. */
export function groupUsage(field: StatsGroupField, scope: UsageScope): string {
  return `
${withUnsettled(scope)}
SELECT
  ${NAMES[field]} AS name,
  ${SERVED.join(',\n  ')},
  ${USAGE_SUMS}
${namedUsage(field, scope)}
GROUP BY name, ${SERVED.join(', ')}
`
}

/** The rows of some models. */
export function selectNamedUsage(field: StatsGroupField, scope: UsageScope): string {
  const rows = namedUsage(field, scope)
  return `
${withUnsettled(scope)}
SELECT
  started_at_us,
  ${NAMES[field]} AS name,
  ${[...SERVED, ...COUNTERS].join(',\n  ')}
${rows}
${rows.includes('\nWHERE') ? 'AND' : 'WHERE'} model IN {models:Array(String)}
`
}
