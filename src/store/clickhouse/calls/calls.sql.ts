/** Statements over calls. Each reads one project by the sorting keys of the tables. */
import { PREVIEWED_BYTES_MAX } from '../../../domain/calls/body-preview.ts'
import { loggedCallsWith } from './call-logs.sql.ts'

/** Deleted calls are excluded from every read. */
export const IS_NOT_DELETED = `id NOT IN (SELECT id FROM call_deletions WHERE project_id = {project_id:String})`

/** The live calls with ids of a list or of a statement. */
function liveIds(ids: string): string {
  return `
    SELECT id
    FROM call_ids
    WHERE project_id = {project_id:String}
      AND id IN ${ids}
      AND id NOT IN (SELECT id FROM call_deletions WHERE project_id = {project_id:String} AND id IN ${ids})`
}

const UNADOPTED = `
    FROM call_orphans FINAL
    WHERE project_id = {project_id:String} AND is_adopted = 0`

/**
 * Whether the parent of a call is not stored. Two processes may store a call and its parent at the same time without
 * seeing each other, so that the parents are looked up once more.
 */
const IS_ORPHAN = `id IN (
    SELECT id${UNADOPTED}
      AND parent_id NOT IN (${liveIds(`(SELECT parent_id${UNADOPTED})`)})
  )`

/** Conditions of the filter's fields, and of a bound of latencies. */
const FILTER_CONDITIONS = {
  op_names: anyOf('op_name', 'op_names'),
  input_refs: hasRef('input_refs'),
  output_refs: hasRef('output_refs'),
  parent_ids: isIn('parent_id', 'parent_ids'),
  trace_ids: isIn('trace_id', 'trace_ids'),
  call_ids: `${isIn('id', 'call_ids')}
  AND started_at_us IN (
    SELECT started_at_us
    FROM call_ids
    WHERE project_id = {project_id:String} AND ${isIn('id', 'call_ids')}
  )`,
  thread_ids: isIn('thread_id', 'thread_ids'),
  turn_ids: isIn('turn_id', 'turn_ids'),
  svc_user_ids: isIn('svc_user_id', 'svc_user_ids'),
  svc_run_ids: isIn('svc_run_id', 'svc_run_ids'),
  end_user_ids: isIn('end_user_id', 'end_user_ids'),
  trace_roots_only: `(parent_id IS NULL OR ${IS_ORPHAN})`,
  latency_at_least: hasLatency('>='),
  latency_at_most: hasLatency('<='),
} as const

/** A field of the filter that needs a condition, or a bound of latencies. */
export type FilterCondition = keyof typeof FILTER_CONDITIONS

/** Condition for rows of a project that match a filter and are not deleted; follows WHERE. */
export function liveRows(conditions: readonly FilterCondition[]): string {
  return [
    'project_id = {project_id:String}',
    ...conditions.map((name) => FILTER_CONDITIONS[name]),
    IS_NOT_DELETED,
  ].join('\n  AND ')
}

/** FROM and WHERE for such rows of calls that began in a period. */
export function startedRows(conditions: readonly FilterCondition[]): string {
  return `
FROM calls
WHERE ${liveRows(conditions)}
  AND started_at_us >= {from_us:Int64}
  AND started_at_us <= {to_us:Int64}
`.trim()
}

export function isIn(column: string, parameter: string): string {
  return `${column} IN {${parameter}:Array(String)}`
}

/** Equal to an entry, or beginning with one of the entries' prefixes. */
export function anyOf(text: string, parameter: string): string {
  return `(
    has({${parameter}:Array(String)}, ${text})
    OR arrayExists(prefix -> startsWith(${text}, prefix), {${parameter}_prefixes:Array(String)})
  )`
}

/** A latency within a bound, in whichever row of the call it is. */
function hasLatency(sign: '<=' | '>='): string {
  return `(started_at_us, id) IN (
    SELECT
      started_at_us,
      id
    FROM calls
    WHERE project_id = {project_id:String}
      AND started_at_us >= {from_us:Int64}
      AND started_at_us <= {to_us:Int64}
      AND has_end = 1
      AND latency_ms ${sign} {latency_bound:Int64}
  )`
}

/** A ref in the inputs or the output, which may be in the other row of the call or in its records. */
function hasRef(column: 'input_refs' | 'output_refs'): string {
  const condition = `arrayExists(ref -> ${anyOf('ref', column)}, ${column})`
  return `(
    id IN (
      SELECT id
      FROM calls
      WHERE project_id = {project_id:String}
        AND ${condition}
    )
    OR (id, trace_id) IN (${loggedCallsWith(condition)})
  )`
}

/** Columns of a start that every row of the call repeats. */
const REPEATED = `
  trace_id,
  parent_id,
  thread_id,
  turn_id,
  op_name,
  display_name,
  svc_user_id,
  svc_username,
  svc_run_id, svc_run_step,
  end_user_id`.trimStart()

/** The rows of ids by the keys of calls. */
const OF_IDS = `
FROM calls
WHERE project_id = {project_id:String}
  AND started_at_us IN (
    SELECT started_at_us
    FROM call_ids
    WHERE project_id = {project_id:String} AND ${isIn('id', 'ids')}
  )
  AND ${isIn('id', 'ids')}`.trim()

/** The same, in order of storage. */
const ROWS_OF_IDS = `${OF_IDS}
ORDER BY stored_at`

/** The columns of stored calls that a write compares. */
export const SELECT_KNOWN_ROWS = `
SELECT
  id,
  started_at_us,
  has_start,
  has_end,
  ${REPEATED},
  start_hash,
  end_hash
${ROWS_OF_IDS}
`

/** The attributes of ids; null in rows of ends. */
export const SELECT_ATTRIBUTES = `
SELECT
  id,
  attributes_json
${ROWS_OF_IDS}
`

/** The newest names of ids. */
export const SELECT_NAMES = `
SELECT
  id,
  tupleElement(argMax(tuple(display_name), version), 1) AS display_name
FROM call_names
WHERE project_id = {project_id:String} AND ${isIn('id', 'ids')}
GROUP BY id
`

/** The ids that were deleted, of those given. */
export const SELECT_DELETED = `
SELECT DISTINCT id
FROM call_deletions
WHERE project_id = {project_id:String} AND ${isIn('id', 'ids')}
`

/** Ids of the calls below others (the bloom filter of parent_id). */
export const SELECT_CHILDREN = `
SELECT DISTINCT id
FROM calls
WHERE project_id = {project_id:String} AND ${isIn('parent_id', 'ids')}
`

/** Bytes of a trace (the bloom filter of trace_id). */
export const SUM_TRACE_SIZES = `
SELECT
  trace_id,
  sum(size_bytes) AS bytes
FROM calls
WHERE ${liveRows(['trace_ids'])}
GROUP BY trace_id
`

/** Bodies of a call as their columns. */
export type BodyColumn = (typeof BODY_COLUMNS)[number]
const BODY_COLUMNS = [
  'attributes_json',
  'inputs_json',
  'otel_dump_json',
  'output_json',
  'summary_json',
] as const

const BY_KEY = `
FROM calls
WHERE project_id = {project_id:String}
  AND started_at_us IN {times:Array(Int64)}
  AND ${isIn('id', 'ids')}`.trim()

/** Rows of calls by their keys, with some of their bodies. */
export function selectRowsByKey(wanted: ReadonlySet<BodyColumn>): string {
  return `
SELECT
  ${selectedColumns(wanted)}
${BY_KEY}
ORDER BY stored_at
`
}

/** Of the ids of a statement, those in another table, which has few of them. */
function idsIn(table: 'call_deletions' | 'call_doubles' | 'call_logs' | 'call_names'): string {
  return `id IN (SELECT id FROM ${table} WHERE project_id = {project_id:String} AND ${isIn('id', 'ids')})`
}

const LIVE_ROWS = `
  AND NOT ${idsIn('call_deletions')}
ORDER BY stored_at`.slice(1)
/** What other tables have of a call: most need no other statement. */
const ELSEWHERE = `
  ${idsIn('call_names')} AS is_renamed,
  ${idsIn('call_doubles')} AS is_doubled,
  ${idsIn('call_logs')} AS is_logged`.trimStart()

/** The rows of calls that are not deleted, with whether other tables have more of them. */
export function selectLiveRowsByKey(wanted: ReadonlySet<BodyColumn>, isPreview = false): string {
  return `
SELECT
  ${selectedColumns(wanted, isPreview)},
  ${ELSEWHERE}
${BY_KEY}
${LIVE_ROWS}
`
}

const ROW_COLUMNS = `
  project_id,
  id,
  started_at_us,
  has_start,
  has_end,
  ${REPEATED},
  ended_at_us,
  exception,
  svc_run_step_end,
  size_bytes`.trimStart()

/** The same by ids, with all bodies. */
export const SELECT_LIVE_ROWS = `
SELECT
  ${[ROW_COLUMNS, ...BODY_COLUMNS, ELSEWHERE].join(',\n  ')}
${OF_IDS}
${LIVE_ROWS}
`

/** Costs are computed from these, whatever their length. */
const ALWAYS_WHOLE: readonly BodyColumn[] = ['attributes_json', 'summary_json']

/**
 * The columns of a row with some of its bodies, NULL for the others.
 *
 * @param isPreview - NULL also for bodies of more than PREVIEWED_BYTES_MAX, with a 1 as `<name>_is_long`
 */
export function selectedColumns(wanted: ReadonlySet<BodyColumn>, isPreview = false): string {
  const bodies = BODY_COLUMNS.flatMap((name) => {
    if (!wanted.has(name)) return `NULL AS ${name}`
    if (!isPreview || ALWAYS_WHOLE.includes(name)) return name
    const isLong = `length(calls.${name}) > ${PREVIEWED_BYTES_MAX}`
    return [`if(${isLong}, NULL, calls.${name}) AS ${name}`, `${isLong} AS ${name}_is_long`]
  })
  return [ROW_COLUMNS, ...bodies].join(',\n  ')
}

/** The rows of ids with the bodies by which records of logs are joined, NULL for long ones. */
export const SELECT_LOGGED_PREVIEWS = `
SELECT
  ${selectedColumns(new Set(['otel_dump_json', 'output_json']), true)},
  ${ELSEWHERE}
${OF_IDS}
${LIVE_ROWS}
`
