/** Statements of usage over trees of calls. */
import { USAGE_COUNTERS } from '../../../domain/usage/own-usage.ts'
import { type FilterCondition, liveRows } from '../calls/calls.sql.ts'

/** Rows of calls with their usage; rows of one call are adjacent. */
export function selectUsageRows(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  id,
  trace_id,
  parent_id,
  thread_id,
  turn_id,
  op_name,
  if(named.is_named = 1, named.given_name, display_name) AS display_name,
  svc_user_id,
  svc_run_id,
  end_user_id,
  has_start,
  has_end,
  started_at_us,
  ended_at_us,
  exception,
  request_key,
  request_signature,
  linked_id,
  usage.model AS models,
  usage.provider AS providers,
  usage.upstream_model AS upstream_models,
  usage.service_tier AS service_tiers,
  usage.reports_cost AS reports_cost,
  usage.tells_requests AS tells_requests,
  [${USAGE_COUNTERS.map((counter) => `usage.${counter}`).join(', ')}] AS counters
FROM calls
LEFT JOIN (
  SELECT
    id AS named_id,
    1 AS is_named,
    tupleElement(argMax(tuple(call_names.display_name), version), 1) AS given_name
  FROM call_names
  WHERE project_id = {project_id:String}
  GROUP BY id
) AS named ON named.named_id = calls.id
WHERE ${liveRows(conditions)}
ORDER BY started_at_us, id
`
}

/** The traces of calls. */
export const SELECT_TRACES = `
SELECT DISTINCT trace_id
FROM calls
WHERE ${liveRows(['call_ids'])}
`

/** The calls of those traces in which some failed, up to a limit. */
export const SELECT_FAILED_TRACES = `
SELECT
  trace_id,
  id,
  any(parent_id) AS parent_id,
  started_at_us,
  max(is_error) AS is_failed
FROM calls
WHERE ${liveRows(['trace_ids'])}
  AND trace_id IN (
    SELECT trace_id
    FROM calls
    WHERE ${liveRows(['trace_ids'])}
      AND is_error = 1
  )
GROUP BY
  trace_id,
  started_at_us,
  id
HAVING max(has_start) = 1
LIMIT {limit:UInt32}
`
