/** Validates queries over calls and resolves them to plain data. Pure. */
import type { CallsFilter } from '../../schemas/calls/calls-filter.ts'
import type { CallsQueryRequest, CallsQueryStatsRequest } from '../../schemas/calls/calls-query.ts'
import type { ProjectPrice } from '../prices/project-prices.ts'
import { type Expression, fieldPaths, parsePath, parseQuery } from '../query/query-expression.ts'
import { type RowQuery, requiredTexts, resolveSort } from '../query/row-query.ts'
import { exactBounds, type TimeBounds, timeBounds } from '../query/time-bounds.ts'
import {
  BODIES,
  type Body,
  CALL_FIELDS,
  isCostPath,
  QUERYABLE_FIELDS,
  requireFeedbackPaths,
} from './call-fields.ts'
import { parseExpandColumns } from './expand-columns.ts'
import { isTreeCostPath } from './tree-fields.ts'

/** Further fields that a list may show. */
export const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  ...CALL_FIELDS,
  'deleted_at',
  'total_storage_size_bytes',
])

/** Columns that are always included. */
const ALWAYS = ['id', 'project_id', 'trace_id', 'op_name', 'started_at']

/** Columns that `summary.weave` is derived from, which readers of the summary need. */
const SUMMARY_COLUMNS = ['ended_at', 'exception', 'display_name']

/** The refs of calls that a read may follow. */
interface RefReach {
  /** Scheme of the refs under which feedback is searched. */
  readonly refScheme: string
  /** Patterns of the projects that the caller may read. */
  readonly projects: readonly string[]
}

/** A reach in which no ref is followed and no feedback found. */
const NOWHERE: RefReach = { refScheme: '', projects: [] }

/** The calls of a list and their order. Plain data. */
export interface CallsSelection {
  readonly project_id: string
  readonly filter: CallsFilter
  readonly expression: Expression | null
  /** Bounds on started_at that the expression implies, both inclusive, in microseconds. */
  readonly startedUs: TimeBounds
  /** Columns whose refs are followed, the shorter first. */
  readonly expanded: readonly (readonly string[])[]
  readonly reach: RefReach
  /** The project's own prices, when the selection asks for costs; see usesCosts. */
  readonly prices: readonly ProjectPrice[] | null
  /** Empty: by started_at and id, in `direction`. */
  readonly sort: RowQuery['sort']
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  /** Infinity: no limit. */
  readonly limit: number
}

/** The fields of each call that a list shows. */
export interface CallsShape {
  /** First segments of the requested columns; null for all. */
  readonly columns: ReadonlySet<string> | null
  /** The requested columns as paths, when bodies are shortened to previews; null: bodies are whole. */
  readonly previewed: readonly (readonly string[])[] | null
  readonly withCosts: boolean
  readonly withFeedback: boolean
  readonly withTreeUsage: boolean
  readonly withStorageSize: boolean
  readonly withTotalStorageSize: boolean
  /** Whether refs of expanded columns are replaced by values. */
  readonly withExpandedValues: boolean
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
  reach: RefReach = NOWHERE,
): CallsSelection {
  const { project_id, query, limit } = request
  const { sort_by, offset } = { sort_by: null, offset: 0, ...request }
  const expression = query ? parseQuery(query, { fields: QUERYABLE_FIELDS }) : null
  if (expression) requireFeedbackPaths(fieldPaths(expression), 'query')
  const sort = resolveSort(sort_by, QUERYABLE_FIELDS)
  requireFeedbackPaths(
    sort.map(({ path }) => path),
    'sort_by',
  )
  const [first] = sort
  const isByStart = !first || (first.path.join('.') === 'started_at' && sort.length === 1)
  const last = sort.at(-1)
  const isLastStart = last?.path.join('.') === 'started_at'
  const tie = { path: ['id'], direction: isLastStart ? last.direction : ('desc' as const) }
  const exact = expression === null ? null : exactBounds(expression, 'started_at')
  return {
    project_id,
    filter: narrow(request.filter ?? {}, expression),
    // What is a window of time alone is read from the index, and no call is looked at for it.
    expression: exact === null ? expression : null,
    startedUs: exact ?? timeBounds(expression, 'started_at'),
    expanded: parseExpandColumns(request.expand_columns),
    reach,
    prices: null,
    sort: isByStart ? [] : [...sort, tie],
    direction: first?.direction ?? 'asc',
    offset: offset ?? 0,
    limit: limit ?? Number.POSITIVE_INFINITY,
  }
}

/** Whether the condition or the order of a selection needs prices. */
export function usesCosts(selection: CallsSelection): boolean {
  return pathsOfSelection(selection).some((path) => isCostPath(path) || isTreeCostPath(path))
}

/** The fields that the condition and the order of a selection read. */
export function pathsOfSelection({
  expression,
  sort,
}: Pick<CallsSelection, 'expression' | 'sort'>): (readonly string[])[] {
  return [...(expression ? fieldPaths(expression) : []), ...sort.map(({ path }) => path)]
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

/** @throws ApiError query_invalid for a column that calls have not */
export function resolveCallsShape(request: CallsQueryRequest): CallsShape {
  const paths = (request.columns ?? []).map((column, index) =>
    parsePath(column, SHOWN_FIELDS, `columns[${index}]`),
  )
  const columns = paths.map(([first = '']) => first)
  return {
    columns:
      columns.length === 0
        ? null
        : new Set([...ALWAYS, ...columns, ...(columns.includes('summary') ? SUMMARY_COLUMNS : [])]),
    previewed: request.preview_bodies ? paths : null,
    withCosts: request.include_costs ?? false,
    withFeedback: request.include_feedback ?? false,
    withTreeUsage: request.include_tree_usage ?? false,
    withStorageSize: request.include_storage_size ?? false,
    withTotalStorageSize: request.include_total_storage_size ?? false,
    withExpandedValues:
      (request.expand_columns ?? []).length > 0 && (request.return_expanded_column_values ?? true),
  }
}

/** Costs, trees and feedback are in the summary. */
export function showsSummary(shape: CallsShape): boolean {
  const { columns, withCosts, withFeedback, withTreeUsage } = shape
  return columns === null || columns.has('summary') || withCosts || withFeedback || withTreeUsage
}

/** The bodies that a shape needs. Attributes name who reports the usage. */
export function bodiesOfShape(shape: CallsShape): Body[] {
  const { columns, withCosts } = shape
  return BODIES.filter(
    (body) =>
      columns === null ||
      columns.has(body) ||
      (body === 'summary' && showsSummary(shape)) ||
      (body === 'attributes' && withCosts),
  )
}
