/** Statements for the statistics: narrow rows of a window, in time order. */
import { PROJECT_KEY } from '../calls/columns/id-columns.sql.ts'
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

function windowOf(conditions: readonly FilterCondition[]): string {
  return `
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.started_at_us >= @start_us
  AND calls.started_at_us < @end_us
  AND calls.deleted_at_us IS NULL${renderConditions(conditions)}
ORDER BY calls.started_at_us
`.trim()
}
