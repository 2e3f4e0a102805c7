/** Statements of usage over trees of calls. */
import { idText, idTexts, OP_NAME, PROJECT_KEY, packedId } from '../calls/columns/id-columns.sql.ts'
import { type FilterCondition, renderConditions } from '../stats/stats.sql.ts'

/**
 * Started calls of a project (calls_project_key_started_at_us; by trace or id their own indexes).
 */
export function selectUsageCalls(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  calls.call_key,
  ${idTexts(['id', 'trace_id', 'parent_id', 'thread_id', 'turn_id'])},
  ${OP_NAME} AS op_name,
  calls.display_name,
  calls.started_at_us,
  calls.ended_at_us,
  calls.exception,
  calls.svc_user_id,
  calls.svc_run_id
FROM calls ${indexFor(conditions)}
WHERE calls.project_key = ${PROJECT_KEY}
  AND +calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL${renderConditions(conditions)}
`
}

/** Why INDEXED BY: the planner would rather walk the whole project than the traces that are named. */
function indexFor(conditions: readonly FilterCondition[]): string {
  if (conditions.includes('call_ids')) return 'INDEXED BY calls_project_key_id'
  if (conditions.includes('trace_ids')) return 'INDEXED BY calls_project_key_trace_id'
  if (conditions.includes('op_names')) return 'INDEXED BY calls_project_key_op_key_started_at_us'
  return 'INDEXED BY calls_project_key_started_at_us'
}

/** The traces of calls (calls_project_key_id). */
export const SELECT_TRACES_OF_CALLS = `
SELECT DISTINCT ${idText('calls.trace_id')} AS trace_id
FROM calls INDEXED BY calls_project_key_id
WHERE project_key = ${PROJECT_KEY}
  AND id IN (SELECT ${packedId('value')} FROM json_each(@call_ids))
  AND started_at_us IS NOT NULL
  AND deleted_at_us IS NULL
`
