/** The fields of the calls filter as conditions of statements over `calls`, and the indexes that serve them. */
import { PROJECT_KEY, packedId } from '../columns/id-columns.sql.ts'

/** A byte that no text has and that sorts after all text. */
const BEHIND_ALL_TEXT = "CAST(x'ff' AS TEXT)"

/** The latency of a call in milliseconds; NULL while it runs. */
export const LATENCY_MS = 'max(0, (calls.ended_at_us - calls.started_at_us) / 1000)'

/** The condition of each field of the filter, which reads its entries from one JSON array, and those of a bound. */
const FILTER_CONDITIONS = {
  op_names: `calls.op_key IN (${selectNamed('ops', 'op_key', 'op_name', 'op_names')})`,
  input_refs: hasRef(0, 'input_refs'),
  output_refs: hasRef(1, 'output_refs'),
  few_input_refs: `calls.call_key IN (${selectUsers(0, 'input_refs')})`,
  few_output_refs: `calls.call_key IN (${selectUsers(1, 'output_refs')})`,
  parent_ids: isId('calls.parent_id', 'parent_ids'),
  trace_ids: isId('calls.trace_id', 'trace_ids'),
  call_ids: isId('calls.id', 'call_ids'),
  thread_ids: isId('calls.thread_id', 'thread_ids'),
  turn_ids: isId('calls.turn_id', 'turn_ids'),
  svc_user_ids: isIn('calls.svc_user_id', 'svc_user_ids'),
  svc_run_ids: isIn('calls.svc_run_id', 'svc_run_ids'),
  end_user_ids: isIn('calls.end_user_id', 'end_user_ids'),
  few_end_user_ids: isIn('calls.end_user_id', 'end_user_ids'),
  trace_roots_only: '(calls.parent_id IS NULL OR calls.is_orphan = 1)',
  latency_at_least: `${LATENCY_MS} >= @latency_bound`,
  latency_at_most: `${LATENCY_MS} <= @latency_bound`,
} as const

/**
 * A field of the filter that needs a condition, `few_` when few calls have the value and are found through it; or a bound of
 * latencies.
 */
export type FilterCondition = keyof typeof FILTER_CONDITIONS

/** Renders the conditions of a filter on `calls`, to be appended to others. */
export function renderConditions(conditions: readonly FilterCondition[]): string {
  return conditions.map((name) => `\n  AND ${FILTER_CONDITIONS[name]}`).join('')
}

/** Conditions that few calls meet, and how these calls are found; the most selective first. */
const SEEKS = [
  ['call_ids', 'INDEXED BY calls_project_key_id'],
  // By primary key, after call_refs_ref_key.
  ['few_input_refs', 'NOT INDEXED'],
  ['few_output_refs', 'NOT INDEXED'],
  ['few_end_user_ids', 'INDEXED BY calls_project_key_end_user_id_started_at_us'],
  ['turn_ids', 'INDEXED BY calls_project_key_turn_id'],
  ['parent_ids', 'INDEXED BY calls_project_key_parent_id'],
  ['trace_ids', 'INDEXED BY calls_project_key_trace_id'],
  ['thread_ids', 'INDEXED BY calls_project_key_thread_id'],
] as const satisfies readonly (readonly [FilterCondition, string])[]

/** Whether calls are found by the time index, so that a filter may pass few of very many visited calls. */
export function isByTime(conditions: readonly FilterCondition[]): boolean {
  return !SEEKS.some(([name]) => conditions.includes(name))
}

/**
 * Returns `calls` with the index that fits the filter.
 *
 * Why: without table statistics, SQLite chooses the time index for any filter, because it avoids the sort.
 */
export function callsBy(conditions: readonly FilterCondition[]): string {
  const seek = SEEKS.find(([name]) => conditions.includes(name))
  if (seek) return `calls ${seek[1]}`
  const isByOp = conditions.includes('op_names')
  return `calls INDEXED BY calls_project_key_${isByOp ? 'op_key_' : ''}started_at_us`
}

/** The number of uses of refs in inputs or outputs, up to a limit (unique in refs, then call_refs_ref_key). */
export const COUNT_INPUT_USES = countUses(0, 'input_refs')
export const COUNT_OUTPUT_USES = countUses(1, 'output_refs')

/** The number of calls of end users, up to a limit (covered by calls_project_key_end_user_id_started_at_us). */
export const COUNT_END_USER_CALLS = `
SELECT count(*)
FROM (
  SELECT 1
  FROM calls INDEXED BY calls_project_key_end_user_id_started_at_us
  WHERE calls.project_key = ${PROJECT_KEY}
    AND ${FILTER_CONDITIONS.end_user_ids}
  LIMIT @limit
)
`

function countUses(isOutput: 0 | 1, parameter: string): string {
  return `
SELECT count(*)
FROM (${selectUsers(isOutput, parameter)}
  LIMIT @limit
)
`
}

function isIn(column: string, parameter: string): string {
  return `${column} IN (SELECT value FROM json_each(@${parameter}))`
}

/** The same for ids. */
function isId(column: string, parameter: string): string {
  return `${column} IN (SELECT ${packedId('value')} FROM json_each(@${parameter}))`
}

/** Keys of these names, and of names with one of the prefixes: ranges of the unique index of names. */
function selectNamed(table: string, key: string, name: string, parameter: string): string {
  return `
    SELECT ${key}
    FROM ${table}
    WHERE ${name} IN (SELECT value FROM json_each(@${parameter}))
    UNION ALL
    SELECT ${table}.${key}
    FROM json_each(@${parameter}_prefixes) AS prefix
    CROSS JOIN ${table} ON ${table}.${name} >= prefix.value
      AND ${table}.${name} < prefix.value || ${BEHIND_ALL_TEXT}
  `
}

/** Keys of the calls that use refs (unique in refs, then call_refs_ref_key). */
function selectUsers(isOutput: 0 | 1, parameter: string): string {
  return `
    SELECT call_refs.call_key
    FROM call_refs INDEXED BY call_refs_ref_key
    WHERE call_refs.is_output = ${isOutput}
      AND call_refs.ref_key IN (${selectNamed('refs', 'ref_key', 'ref', parameter)})`
}

/** Whether the inputs or output of a call have one of the refs (primary key of call_refs). */
function hasRef(isOutput: 0 | 1, parameter: string): string {
  return `EXISTS (
    SELECT 1
    FROM call_refs
    WHERE call_refs.call_key = calls.call_key
      AND call_refs.is_output = ${isOutput}
      AND call_refs.ref_key IN (${selectNamed('refs', 'ref_key', 'ref', parameter)})
  )`
}
