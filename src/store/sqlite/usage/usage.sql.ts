/** Statements of usage over trees of calls. */
import { type FilterCondition, renderConditions } from '../stats/stats.sql.ts'

/**
 * Started calls of a project (calls_project_id_started_at_us; by trace or id their own indexes).
 */
export function selectUsageCalls(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  calls.call_key,
  calls.id,
  calls.trace_id,
  calls.parent_id,
  calls.thread_id,
  calls.turn_id,
  calls.op_name,
  calls.display_name,
  calls.started_at_us,
  calls.ended_at_us,
  calls.exception,
  calls.svc_user_id,
  calls.svc_run_id
FROM calls INDEXED BY ${indexFor(conditions)}
WHERE calls.project_id = @project_id
  AND +calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL${renderConditions(conditions)}
`
}

/** Why INDEXED BY: the planner would rather walk the whole project than the traces that are named. */
function indexFor(conditions: readonly FilterCondition[]): string {
  if (conditions.includes('call_ids')) return 'calls_project_id_id'
  if (conditions.includes('trace_ids')) return 'calls_project_id_trace_id'
  return 'calls_project_id_started_at_us'
}

/** Usage of one call by model (primary key of call_usage). */
export const SELECT_CALL_USAGE = `
SELECT
  model,
  input_tokens,
  uncached_input_tokens,
  output_tokens,
  total_tokens,
  cache_read_input_tokens,
  cache_creation_input_tokens,
  requests
FROM call_usage
WHERE call_key = @call_key
`

/** The traces of calls (calls_project_id_id). */
export const SELECT_TRACES_OF_CALLS = `
SELECT DISTINCT trace_id
FROM calls INDEXED BY calls_project_id_id
WHERE project_id = @project_id
  AND id IN (SELECT value FROM json_each(@call_ids))
  AND started_at_us IS NOT NULL
  AND deleted_at_us IS NULL
`
