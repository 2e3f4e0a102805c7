/** Statements for the lists of calls. */
import type { Body } from '../../../../domain/calls/call-fields.ts'
import { COUNTED_IN } from '../../usage/usage-requests.sql.ts'
import { type BodyName, bodyText, shortBodyText } from '../bodies.sql.ts'
import { idText, idTexts, OP_NAME, PROJECT_ID, PROJECT_KEY } from '../columns/id-columns.sql.ts'
import {
  callsBy,
  type FilterCondition,
  LATENCY_MS,
  renderConditions,
} from './filter-conditions.sql.ts'

/** Columns besides the key and the start. */
export const NAMED_COLUMNS = [
  'project_id',
  'id',
  'op_name',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'display_name',
  'ended_at_us',
  'exception',
  'svc_user_id',
  'svc_username',
  'svc_run_id',
  'svc_run_step',
  'svc_run_step_end',
  'end_user_id',
  'storage_size_bytes',
] as const
export type NamedColumn = (typeof NAMED_COLUMNS)[number]

const IDS: readonly NamedColumn[] = ['id', 'trace_id', 'parent_id', 'thread_id', 'turn_id']

/** Selects NULL for columns that are not wanted: most take some work to read. */
function namedColumns(wanted: ReadonlySet<NamedColumn>): string {
  return NAMED_COLUMNS.map((column) => {
    if (!wanted.has(column)) return `NULL AS ${column}`
    if (column === 'project_id') return `${PROJECT_ID} AS project_id`
    if (column === 'op_name') return `${OP_NAME} AS op_name`
    return IDS.includes(column) ? idTexts([column]) : `calls.${column}`
  }).join(',\n  ')
}

/** The texts that hold each body of a call. */
const BODY_COLUMNS: Readonly<Record<Body, readonly BodyName[]>> = {
  attributes: ['attributes', 'otel_dump'],
  inputs: ['inputs'],
  output: ['output'],
  summary: ['summary'],
}

/** Costs are computed from these, whatever their length. */
const ALWAYS_WHOLE: readonly BodyName[] = ['attributes', 'summary']

/** Selects a column for each body; NULL for bodies that are not wanted, so that their pages are not read. */
function bodyColumns(wanted: ReadonlySet<Body>, isPreview: boolean): string {
  return (Object.keys(BODY_COLUMNS) as Body[])
    .flatMap((body) =>
      BODY_COLUMNS[body].map((name) => {
        if (!wanted.has(body)) return `NULL AS ${name}_json`
        return isPreview && !ALWAYS_WHOLE.includes(name) ? shortBodyText(name) : bodyText(name)
      }),
    )
    .join(',\n  ')
}

/** Calls that started in a part of time, were stored before the walk began, and are not deleted. */
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

/** The start of the call after the first `@calls` of a part of time (covered by calls_project_key_started_at_us). */
export const FIND_TIME_AFTER = findTime('asc')
/** The same, from the end of the part. */
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
 * Keys, times and ids of calls in time order after a call, or from the beginning for null
 * (calls_project_key_started_at_us; for other fields, the index of callsBy, and the rows are sorted).
 * Equal times are ordered by the texts of ids, as in ClickHouse.
 *
 * @param more - expressions of additional columns
 */
export function selectCallKeys(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
  more: readonly string[] = [],
): string {
  const isBehind = direction === 'asc' ? '>' : '<'
  const id = idText('calls.id')
  return `
SELECT
  calls.call_key,
  ${['calls.started_at_us', `${id} AS id_text`, ...more].join(',\n  ')}
FROM ${callsBy(conditions)}
${liveCalls(conditions)}
  AND (calls.started_at_us IS NOT @after_us OR ${id} ${isBehind} @after_id)
ORDER BY calls.started_at_us ${direction}, id_text ${direction}
LIMIT @limit
`
}

/** The lowest or highest latencies of a part of time (the same indexes). */
export function selectLatencies(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
): string {
  return `
SELECT ${LATENCY_MS} AS latency_ms
FROM ${callsBy(conditions)}
${liveCalls(conditions)}
  AND calls.ended_at_us IS NOT NULL
ORDER BY latency_ms ${direction}
LIMIT @limit
`
}

/** The bytes of a call, as a column of selectCallKeys. */
export const SIZE_COLUMN = 'calls.storage_size_bytes'

/** The key of the ref at a path, as such a column; null when none is stored there (primary key of call_refs). */
export function refColumn(body: 'inputs' | 'output', pathParameter: string): string {
  return `(
    SELECT call_refs.ref_key
    FROM call_refs
    WHERE call_refs.call_key = calls.call_key
      AND call_refs.is_output = ${body === 'output' ? 1 : 0}
      AND call_refs.path_key = @${pathParameter}
  )`
}

/** The text of a ref; by primary key. */
export const FIND_REF_TEXT = 'SELECT ref FROM refs WHERE ref_key = ?'

/**
 * The number of calls, up to a limit, and their bytes (the same indexes).
 *
 * @param isLimited - whether the first calls of a list must be the counted ones; all need no order
 */
export function countCalls(conditions: readonly FilterCondition[], isLimited: boolean): string {
  const order = `ORDER BY calls.started_at_us, ${idText('calls.id')}`
  return `
SELECT
  count(*) AS count,
  coalesce(sum(storage_size_bytes), 0) AS storage_size_bytes
FROM (
  SELECT calls.storage_size_bytes
  FROM ${callsBy(conditions)}
  ${liveCalls(conditions)}
  ${isLimited ? order : ''}
  LIMIT @limit
)
`
}

/**
 * Calls by key, in the given order (primary keys): SQLite keeps the order of a CROSS JOIN. An ORDER BY would read and
 * decompress the bodies of all calls before the first row, and again whenever a read resumes after a pause.
 *
 * @param isPreview - leaves out long bodies
 */
export function findCallsByKey(
  wanted: ReadonlySet<Body>,
  named: ReadonlySet<NamedColumn> = new Set(NAMED_COLUMNS),
  isPreview = false,
): string {
  return `
SELECT
  calls.call_key,
  calls.started_at_us,
  ${namedColumns(named)},
  ${bodyColumns(wanted, isPreview)},
  ${wanted.has('summary') ? COUNTED_IN : 'NULL'} AS usage_counted_in
FROM json_each(@keys) AS wanted
CROSS JOIN calls ON calls.call_key = wanted.value
${wanted.size > 0 ? 'CROSS JOIN call_bodies ON call_bodies.call_key = calls.call_key' : ''}
WHERE calls.deleted_at_us IS NULL
`
}
