/** Statements of the lists of calls. */
import type { Body } from '../../../domain/calls/calls-query.ts'
import { type FilterCondition, renderConditions } from '../stats/stats.sql.ts'
import { type BodyName, bodyText } from './bodies.sql.ts'

const NARROW_COLUMNS = `
  calls.call_key,
  calls.project_id,
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
  calls.svc_username,
  calls.svc_run_id,
  calls.svc_run_step,
  calls.svc_run_step_end,
  calls.storage_size_bytes`.trimStart()

/** Texts that hold a body of a call. */
const BODY_COLUMNS: Readonly<Record<Body, readonly BodyName[]>> = {
  attributes: ['attributes', 'otel_dump'],
  inputs: ['inputs'],
  output: ['output'],
  summary: ['summary'],
}

/** A column for each body; NULL for those that nobody wants, so that their pages are not read. */
function bodyColumns(wanted: ReadonlySet<Body>): string {
  return (Object.keys(BODY_COLUMNS) as Body[])
    .flatMap((body) =>
      BODY_COLUMNS[body].map((name) =>
        wanted.has(body) ? bodyText(name) : `NULL AS ${name}_json`,
      ),
    )
    .join(',\n  ')
}

/** Calls that started in a part of time and are not deleted. */
function liveCalls(conditions: readonly FilterCondition[]): string {
  return `
WHERE calls.project_id = @project_id
  AND calls.started_at_us >= @from_us
  AND calls.started_at_us <= @to_us
  AND calls.deleted_at_us IS NULL${renderConditions(conditions)}
`.trim()
}

/** Conditions that few calls meet, each with its index, the best first. */
const SEEKS = [
  ['call_ids', 'calls_project_id_id'],
  ['parent_ids', 'calls_project_id_parent_id'],
  ['trace_ids', 'calls_project_id_trace_id'],
] as const

/**
 * The calls by the index that fits the filter.
 *
 * Why: without figures SQLite takes the index of time for any filter, since it spares the sort.
 */
function callsBy(conditions: readonly FilterCondition[]): string {
  const seek = SEEKS.find(([name]) => conditions.includes(name))
  return `calls INDEXED BY ${seek ? seek[1] : 'calls_project_id_started_at_us'}`
}

function byStart(direction: 'asc' | 'desc'): string {
  return `ORDER BY calls.started_at_us ${direction}, calls.id ${direction}`
}

/**
 * Keys of calls in order of time (calls_project_id_started_at_us; by id, trace or parent their own indexes
 * serve and the few rows are sorted).
 */
export function selectCallKeys(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
): string {
  return `
SELECT calls.call_key
FROM ${callsBy(conditions)}
${liveCalls(conditions)}
${byStart(direction)}
LIMIT @limit OFFSET @offset
`
}

/** Calls for an expression to be asked of each, in order of time (the same indexes). */
export function scanCalls(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
  wanted: ReadonlySet<Body>,
): string {
  return `
SELECT
  ${NARROW_COLUMNS},
  ${bodyColumns(wanted)}
FROM ${callsBy(conditions)}
${wanted.size > 0 ? 'CROSS JOIN call_bodies ON call_bodies.call_key = calls.call_key' : ''}
${liveCalls(conditions)}
${byStart(direction)}
`
}

/** How many calls, up to a limit, and their bytes (the same indexes). */
export function countCalls(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  count(*) AS count,
  coalesce(sum(storage_size_bytes), 0) AS storage_size_bytes
FROM (
  SELECT calls.storage_size_bytes
  FROM ${callsBy(conditions)}
  ${liveCalls(conditions)}
  LIMIT @limit
)
`
}

/** Calls by their keys, in the order of the keys (primary keys). */
export function findCallsByKey(wanted: ReadonlySet<Body>): string {
  return `
SELECT
  ${NARROW_COLUMNS},
  ${bodyColumns(wanted)}
FROM json_each(@keys) AS wanted
CROSS JOIN calls ON calls.call_key = wanted.value
CROSS JOIN call_bodies ON call_bodies.call_key = calls.call_key
WHERE calls.deleted_at_us IS NULL
ORDER BY wanted.key
`
}
