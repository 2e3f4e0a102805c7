/** Statements of the statistics by groups of calls: sums by name, and rows where sums are not enough. */

import type { StatsGroupField } from '../../../schemas/stats/stats-groups.ts'
import { COUNTERS } from '../../base/stats/sums.ts'
import type { FilterCondition } from '../calls/calls.sql.ts'
import { CALL_SUMS, END_SUMS, USAGE_SUMS, withUnsettled } from './stats.sql.ts'
import { SERVED, type UsageScope, usageRows, windowOf } from './usage-rows.sql.ts'

/** What each field groups by; of a failed call its exception, whose type the domain reads. */
const NAMES: Readonly<Record<StatsGroupField, string>> = {
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

/** Calls by what they have themselves. */
export function groupCalls(field: StatsGroupField, conditions: readonly FilterCondition[]): string {
  const isFailed = field === 'error_type'
  return `
SELECT
  ${NAMES[field]} AS name,
  ${isFailed ? `count() AS calls,\n  ${END_SUMS}` : CALL_SUMS},
  min(started_at_us) AS first_us,
  max(started_at_us) AS last_us
FROM calls
WHERE ${windowOf(conditions)}${isFailed ? '\n  AND exception IS NOT NULL' : ''}
GROUP BY name
`
}

/** Calls by what their usage names; the name NULL has those without usage. */
export function groupCallsByUsage(field: 'model' | 'provider', scope: UsageScope): string {
  const ofCalls = { ...scope, callColumns: ['id', 'latency_ms', 'is_error'] }
  return `
${withUnsettled(scope)}
SELECT
  name,
  count() AS calls,
  ${END_SUMS.replaceAll('is_error', 'failed').replaceAll('latency_ms', 'ms')}
FROM (
  SELECT
    ${NAMES[field]} AS name,
    any(latency_ms) AS ms,
    any(is_error) AS failed
  FROM (${usageRows(ofCalls)}
  )
  GROUP BY name, id
)
GROUP BY name
UNION ALL
SELECT
  NULL AS name,
  ${CALL_SUMS}
FROM calls
WHERE ${windowOf(scope.conditions)}
  AND id NOT IN (SELECT id FROM (${usageRows({ ...scope, callColumns: ['id'] })}))
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
