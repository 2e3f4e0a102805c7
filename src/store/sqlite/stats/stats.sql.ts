/** Statements of the statistics: narrow rows of a window, in order of time. */
import { PROJECT_KEY, packedId } from '../calls/columns/id-columns.sql.ts'
import { USAGE_ROW } from '../usage/nested-usage.sql.ts'

/** No text has this byte, which is behind all that text has. */
const BEHIND_ALL_TEXT = "CAST(x'ff' AS TEXT)"

/** Conditions of the filter's fields; each reads its entries out of one JSON array. */
const FILTER_CONDITIONS = {
  op_names: isOp('op_names'),
  input_refs: hasRef('input', 'input_refs'),
  output_refs: hasRef('output', 'output_refs'),
  parent_ids: isId('calls.parent_id', 'parent_ids'),
  trace_ids: isId('calls.trace_id', 'trace_ids'),
  call_ids: isId('calls.id', 'call_ids'),
  thread_ids: isId('calls.thread_id', 'thread_ids'),
  turn_ids: isId('calls.turn_id', 'turn_ids'),
  svc_user_ids: isIn('calls.svc_user_id', 'svc_user_ids'),
  svc_run_ids: isIn('calls.svc_run_id', 'svc_run_ids'),
  trace_roots_only: 'calls.parent_id IS NULL',
} as const

/** A field of the filter that needs a condition. */
export type FilterCondition = keyof typeof FILTER_CONDITIONS

/** Calls of a window (the index of indexFor). */
export function selectStatsCalls(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  calls.started_at_us,
  calls.ended_at_us,
  calls.exception IS NOT NULL
FROM calls INDEXED BY ${indexFor(conditions)}
${windowOf(conditions)}
`
}

/** Usage of the calls of a window by model (the index of indexFor, then the primary key of call_usage). */
export function selectStatsUsage(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  calls.started_at_us,
  ${USAGE_ROW}
FROM calls INDEXED BY ${indexFor(conditions)}
CROSS JOIN call_usage ON call_usage.call_key = calls.call_key
${windowOf(conditions)}
`
}

/** The conditions of a filter, to follow others; they read `calls`. */
export function renderConditions(conditions: readonly FilterCondition[]): string {
  return conditions.map((name) => `\n  AND ${FILTER_CONDITIONS[name]}`).join('')
}

/** The indexes of the fields that name few calls, the fewest first. */
const INDEXES = [
  ['call_ids', 'calls_project_key_id'],
  ['trace_ids', 'calls_project_key_trace_id'],
  ['turn_ids', 'calls_project_key_turn_id'],
  ['parent_ids', 'calls_project_key_parent_id'],
  ['thread_ids', 'calls_project_key_thread_id'],
] as const satisfies readonly (readonly [FilterCondition, string])[]

/** Why INDEXED BY: the planner would rather walk the whole window than the calls that are named. */
function indexFor(conditions: readonly FilterCondition[]): string {
  const found = INDEXES.find(([field]) => conditions.includes(field))
  return found?.[1] ?? 'calls_project_key_started_at_us'
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

function isIn(column: string, parameter: string): string {
  return `${column} IN (SELECT value FROM json_each(@${parameter}))`
}

/** The same of ids. */
function isId(column: string, parameter: string): string {
  return `${column} IN (SELECT ${packedId('value')} FROM json_each(@${parameter}))`
}

/** Ops of these names, or whose names begin with one of the prefixes: ranges of names (unique in ops). */
function isOp(parameter: string): string {
  return `calls.op_key IN (
    SELECT op_key
    FROM ops
    WHERE op_name IN (SELECT value FROM json_each(@${parameter}))
    UNION ALL
    SELECT ops.op_key
    FROM json_each(@${parameter}_prefixes) AS prefix
    CROSS JOIN ops ON ops.op_name >= prefix.value
      AND ops.op_name < prefix.value || ${BEHIND_ALL_TEXT}
  )`
}

/** Equal to an entry, or beginning with one of the entries' prefixes. */
function anyOf(column: string, parameter: string): string {
  return `(
    ${isIn(column, parameter)}
    OR EXISTS (
      SELECT 1
      FROM json_each(@${parameter}_prefixes) AS prefix
      WHERE substr(${column}, 1, length(prefix.value)) = prefix.value
    )
  )`
}

/** A ref on one side of the call (primary key of call_refs). */
function hasRef(side: 'input' | 'output', parameter: string): string {
  return `EXISTS (
    SELECT 1
    FROM call_refs
    WHERE call_refs.call_key = calls.call_key
      AND call_refs.side = '${side}'
      AND ${anyOf('call_refs.ref', parameter)}
  )`
}
