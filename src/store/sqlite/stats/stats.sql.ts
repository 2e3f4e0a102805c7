/** Statements for the statistics: narrow rows of a window, in time order. */
import type { StatsGroupField } from '../../../schemas/stats/stats-groups.ts'
import { OP_NAME, PROJECT_KEY } from '../calls/columns/id-columns.sql.ts'
import {
  callsBy,
  type FilterCondition,
  renderConditions,
} from '../calls/query/filter-conditions.sql.ts'
import { USAGE_ROW } from '../usage/nested-usage.sql.ts'

/** Calls of a window (the index of callsBy). */
export function selectStatsCalls(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  calls.started_at_us,
  calls.ended_at_us,
  calls.exception IS NOT NULL
FROM ${callsBy(conditions)}
${windowOf(conditions)}
`
}

/** Usage of the calls of a window by model (the index of callsBy, then the primary key of call_usage). */
export function selectStatsUsage(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  calls.started_at_us,
  ${USAGE_ROW}
FROM ${callsBy(conditions)}
CROSS JOIN call_usage ON call_usage.call_key = calls.call_key
${windowOf(conditions)}
`
}

/** What each field groups by, as an expression; other fields follow from the other columns. */
const GROUP_VALUES: Readonly<Partial<Record<StatsGroupField, string>>> = {
  op_name: OP_NAME,
  svc_user_id: 'calls.svc_user_id',
  end_user_id: 'calls.end_user_id',
  error_type: 'calls.exception',
}

/** Calls of a window with what they are grouped by, one row for each model of their usage (the index of callsBy). */
export function selectGroupCalls(
  conditions: readonly FilterCondition[],
  field: StatsGroupField,
  hasUsage: boolean,
): string {
  const isFailed = field === 'error_type' ? '\n  AND calls.exception IS NOT NULL' : ''
  return `
SELECT
  calls.call_key,
  calls.started_at_us,
  calls.ended_at_us,
  calls.exception IS NOT NULL,
  ${GROUP_VALUES[field] ?? 'NULL'}${hasUsage ? `,\n  ${USAGE_ROW}` : ''}
FROM ${callsBy(conditions)}${hasUsage ? '\nLEFT JOIN call_usage ON call_usage.call_key = calls.call_key' : ''}
${inWindow(conditions)}${isFailed}
ORDER BY calls.started_at_us, calls.call_key
`
}

function windowOf(conditions: readonly FilterCondition[]): string {
  return `
${inWindow(conditions)}
ORDER BY calls.started_at_us
`.trim()
}

function inWindow(conditions: readonly FilterCondition[]): string {
  return `
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.started_at_us >= @start_us
  AND calls.started_at_us < @end_us
  AND calls.deleted_at_us IS NULL${renderConditions(conditions)}
`.trim()
}
