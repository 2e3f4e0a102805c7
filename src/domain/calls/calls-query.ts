/** Queries over calls: checked and resolved to plain data, and the fields of a call that they read. Pure. */
import type { CallsFilter } from '../../schemas/calls/calls-filter.ts'
import type { CallsQueryRequest, CallsQueryStatsRequest } from '../../schemas/calls/calls-query.ts'
import { type Expression, parsePath, parseQuery } from '../query/query-expression.ts'
import { timeValue, toTimeUs, valueAt } from '../query/query-values.ts'
import { type RowQuery, requiredTexts } from '../query/row-query.ts'
import { type CallTexts, derivedSummary } from './call-view.ts'

/** Fields of a call that are columns, in the words of the API. */
const COLUMNS = [
  'id',
  'project_id',
  'op_name',
  'display_name',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'exception',
  'svc_user_id',
  'svc_username',
  'svc_run_id',
  'svc_run_step',
  'svc_run_step_end',
  'storage_size_bytes',
] as const

/** Fields of a call that are JSON. */
export const BODIES = ['attributes', 'inputs', 'output', 'summary'] as const
export type Body = (typeof BODIES)[number]

/** What a query may ask about. */
export const CALL_FIELDS: ReadonlySet<string> = new Set([
  ...COLUMNS,
  ...BODIES,
  'started_at',
  'ended_at',
])

/** What a list may show beyond that. */
const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  ...CALL_FIELDS,
  'deleted_at',
  'total_storage_size_bytes',
])

/** Calls that are always told, whatever the columns. */
const ALWAYS = ['id', 'project_id', 'trace_id', 'op_name', 'started_at']

export interface StartedBounds {
  readonly from: number
  readonly to: number
}

/** Which calls, in which order. Plain data. */
export interface CallsSelection {
  readonly project_id: string
  readonly filter: CallsFilter
  readonly expression: Expression | null
  /** Bounds on started_at that the expression implies, both inclusive, in microseconds. */
  readonly startedUs: StartedBounds
  /** Empty: by started_at and id, in `direction`. */
  readonly sort: RowQuery['sort']
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  /** Infinity when there is none. */
  readonly limit: number
}

/** What of each call. */
export interface CallsShape {
  /** First segments of the wanted columns; null for all. */
  readonly columns: ReadonlySet<string> | null
  readonly withCosts: boolean
  readonly withFeedback: boolean
  readonly withStorageSize: boolean
  readonly withTotalStorageSize: boolean
}

/**
 * Resolves which calls a request asks for.
 *
 * Spec: §2.7 (lists are an addition). Choice: a sort by anything else than started_at is followed by id,
 * descending, so that pages have one order.
 *
 * @throws ApiError query_invalid; param is the place
 */
export function resolveCallsSelection(
  request: Omit<CallsQueryRequest, 'columns'> | CallsQueryStatsRequest,
): CallsSelection {
  const { project_id, query, limit } = request
  const { sort_by, offset } = { sort_by: null, offset: 0, ...request }
  const expression = query ? parseQuery(query, { fields: CALL_FIELDS }) : null
  const sort = (sort_by ?? []).map(({ field, direction }, index) => ({
    path: parsePath(field, CALL_FIELDS, `sort_by[${index}].field`),
    direction,
  }))
  const [first] = sort
  const isByStart = !first || (first.path.join('.') === 'started_at' && sort.length === 1)
  const last = sort.at(-1)
  const isLastStart = last?.path.join('.') === 'started_at'
  const tie = { path: ['id'], direction: isLastStart ? last.direction : ('desc' as const) }
  return {
    project_id,
    filter: narrow(request.filter ?? {}, expression),
    expression,
    startedUs: startedBounds(expression),
    sort: isByStart ? [] : [...sort, tie],
    direction: first?.direction ?? 'asc',
    offset: offset ?? 0,
    limit: limit ?? Number.POSITIVE_INFINITY,
  }
}

/** Ids that the expression demands narrow the filter, so that few rows are read. */
function narrow(filter: CallsFilter, expression: Expression | null): CallsFilter {
  const call_ids = requiredTexts(expression, 'id') ?? []
  const trace_ids = requiredTexts(expression, 'trace_id') ?? []
  const isFree = (list: readonly string[] | null | undefined) => (list ?? []).length === 0
  return {
    ...filter,
    ...(isFree(filter.call_ids) ? { call_ids } : {}),
    ...(isFree(filter.trace_ids) ? { trace_ids } : {}),
  }
}

const ANY_START: StartedBounds = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

/**
 * The part of time that calls of an expression lie in, never too small: a time window in a query then
 * reads a window of the index.
 */
export function startedBounds(expression: Expression | null): StartedBounds {
  if (expression?.op === '$and') {
    return expression.items.map(startedBounds).reduce(
      (left, right) => ({
        from: Math.max(left.from, right.from),
        to: Math.min(left.to, right.to),
      }),
      ANY_START,
    )
  }
  if (expression?.op === '$gt' || expression?.op === '$gte') {
    return betweenSides(expression.right, expression.left)
  }
  if (expression?.op === '$lt' || expression?.op === '$lte') {
    return betweenSides(expression.left, expression.right)
  }
  return ANY_START
}

/** Bounds for a start that stands on one side of `lower <= upper`. */
function betweenSides(lower: Expression, upper: Expression): StartedBounds {
  const isStart = (side: Expression) =>
    side.op === '$getField' && side.path.join('.') === 'started_at'
  if (isStart(upper)) return { ...ANY_START, from: Math.floor(literalUs(lower) ?? ANY_START.from) }
  if (isStart(lower)) return { ...ANY_START, to: Math.ceil(literalUs(upper) ?? ANY_START.to) }
  return ANY_START
}

function literalUs(side: Expression): number | null {
  const us = side.op === '$literal' ? toTimeUs(side.value) : null
  return us === null || !Number.isSafeInteger(Math.trunc(us)) ? null : us
}

/** @throws ApiError query_invalid for a column that calls have not */
export function resolveCallsShape(request: CallsQueryRequest): CallsShape {
  const columns = (request.columns ?? []).map(
    (column, index) => parsePath(column, SHOWN_FIELDS, `columns[${index}]`)[0] ?? '',
  )
  return {
    columns: columns.length === 0 ? null : new Set([...ALWAYS, ...columns]),
    withCosts: request.include_costs ?? false,
    withFeedback: request.include_feedback ?? false,
    withStorageSize: request.include_storage_size ?? false,
    withTotalStorageSize: request.include_total_storage_size ?? false,
  }
}

/** A call of a scan; `parsed` holds the bodies that were parsed. */
export interface ScannedCall {
  readonly call: CallTexts
  readonly parsed: Partial<Record<Body, unknown>>
}

/** The value of a call's field; undefined when there is none. Numbers are doubles. */
export function callField({ call, parsed }: ScannedCall, path: readonly string[]): unknown {
  const [first = '', ...rest] = path
  const body = BODIES.find((name) => name === first)
  if (body) {
    if (!(body in parsed)) parsed[body] = parseBody(call, body)
    return valueAt(parsed[body], rest)
  }
  if (rest.length > 0) return undefined
  if (first === 'started_at') return timeValue(call.started_at_us)
  if (first === 'ended_at') return timeValue(call.ended_at_us)
  return call[first as (typeof COLUMNS)[number]]
}

/** A body as a read shows it, without costs and feedback. */
function parseBody(call: CallTexts, body: Body): unknown {
  switch (body) {
    case 'output':
      return JSON.parse(call.output_json ?? 'null')
    case 'inputs':
      return JSON.parse(call.inputs_json ?? '{}')
    case 'attributes': {
      const attributes = JSON.parse(call.attributes_json ?? '{}')
      if (call.otel_dump_json === null) return attributes
      return { otel_span: JSON.parse(call.otel_dump_json), ...attributes }
    }
    case 'summary': {
      const summary = JSON.parse(call.summary_json ?? '{}')
      return { ...summary, weave: derivedSummary({ ...call, summary }, {}) }
    }
    default:
      return body satisfies never
  }
}
