/** Statements of the lists of calls. */
import type { Body } from '../../../domain/calls/call-fields.ts'
import { type FilterCondition, renderConditions } from '../stats/stats.sql.ts'
import { type BodyName, bodyText } from './bodies.sql.ts'
import { idTexts, OP_NAME, PROJECT_ID, PROJECT_KEY, packedId } from './columns/id-columns.sql.ts'

/** Columns that take some work to read. */
export const NAMED_COLUMNS = ['op_name', 'trace_id', 'parent_id', 'thread_id', 'turn_id'] as const
export type NamedColumn = (typeof NAMED_COLUMNS)[number]

/** NULL for those that nobody wants. */
function namedColumns(wanted: ReadonlySet<NamedColumn>): string {
  const columns = NAMED_COLUMNS.map((column) => {
    if (!wanted.has(column)) return `NULL AS ${column}`
    return column === 'op_name' ? `${OP_NAME} AS op_name` : idTexts([column])
  })
  return columns.join(',\n  ')
}

const NARROW_COLUMNS = `
  calls.call_key,
  ${PROJECT_ID} AS project_id,
  ${idTexts(['id'])},
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

/** Calls that started in a part of time, not after a walk began, and are not deleted. */
function liveCalls(conditions: readonly FilterCondition[]): string {
  return `
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.started_at_us >= @from_us
  AND calls.started_at_us <= @to_us
  AND calls.call_key <= @max_key
  AND calls.deleted_at_us IS NULL${renderConditions(conditions)}
`.trim()
}

/** The newest call; by primary key. */
export const MAX_CALL_KEY = `
SELECT max(call_key)
FROM calls
`

/** Conditions that few calls meet, each with its index, the best first. */
const SEEKS = [
  ['call_ids', 'calls_project_key_id'],
  ['parent_ids', 'calls_project_key_parent_id'],
  ['trace_ids', 'calls_project_key_trace_id'],
] as const

/**
 * The calls by the index that fits the filter.
 *
 * Why: without figures SQLite takes the index of time for any filter, since it spares the sort.
 */
function callsBy(conditions: readonly FilterCondition[]): string {
  const seek = SEEKS.find(([name]) => conditions.includes(name))
  if (seek) return `calls INDEXED BY ${seek[1]}`
  const isByOp = conditions.includes('op_names')
  return `calls INDEXED BY calls_project_key_${isByOp ? 'op_key_' : ''}started_at_us`
}

function byStart(direction: 'asc' | 'desc'): string {
  return `ORDER BY calls.started_at_us ${direction}, calls.id ${direction}`
}

/** Whether calls are found by the index of time, where a filter may let few of very many through. */
export function isByTime(conditions: readonly FilterCondition[]): boolean {
  return !SEEKS.some(([name]) => conditions.includes(name))
}

/** The time of the call that `@calls` others precede in a part of time (calls_project_key_started_at_us alone). */
export const FIND_TIME_AFTER = findTime('asc')
/** The same from the end of the part. */
export const FIND_TIME_BEFORE = findTime('desc')

function findTime(direction: 'asc' | 'desc'): string {
  return `
SELECT started_at_us
FROM calls INDEXED BY calls_project_key_started_at_us
WHERE project_key = ${PROJECT_KEY}
  AND started_at_us >= @from_us
  AND started_at_us <= @to_us
ORDER BY started_at_us ${direction}
LIMIT 1 OFFSET @calls
`
}

/**
 * Keys, times and ids of calls in order of time behind a call, or from the beginning for null
 * (calls_project_key_started_at_us; by id, trace, parent or op their own indexes serve and the rows are sorted).
 * Ids as they lie in the column, and in that order: texts, then bytes.
 */
export function selectCallKeys(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
): string {
  const isBehind = direction === 'asc' ? '>' : '<'
  return `
SELECT
  calls.call_key,
  calls.started_at_us,
  calls.id
FROM ${callsBy(conditions)}
${liveCalls(conditions)}
  AND (calls.started_at_us IS NOT @after_us OR calls.id ${isBehind} ${packedId('@after_id')})
${byStart(direction)}
LIMIT @limit
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
export function findCallsByKey(
  wanted: ReadonlySet<Body>,
  named: ReadonlySet<NamedColumn> = new Set(NAMED_COLUMNS),
): string {
  return `
SELECT
  ${NARROW_COLUMNS},
  ${namedColumns(named)},
  ${bodyColumns(wanted)}
FROM json_each(@keys) AS wanted
CROSS JOIN calls ON calls.call_key = wanted.value
${wanted.size > 0 ? 'CROSS JOIN call_bodies ON call_bodies.call_key = calls.call_key' : ''}
WHERE calls.deleted_at_us IS NULL
ORDER BY wanted.key
`
}
