/** Lists of spans: order, paging and the fields of each span. Pure. */
import { ApiError } from '../../errors.ts'
import type { AgentSpanRow, AgentSpansQueryRequest } from '../../schemas/agents/agent-spans.ts'
import { layerPrices, type ProjectPrice } from '../prices/project-prices.ts'
import { type RowQuery, resolveSort } from '../query/row-query.ts'
import type { AgentSpan } from './agent-span.ts'
import { costsOf } from './span-costs.ts'
import { renderSpanRow, type SpanRowShape } from './span-row.ts'
import type { SpanScope } from './span-scope.ts'
import { SPAN_FIELDS } from './span-values.ts'

/** Limit: characters of spans in one response. */
const RESPONSE_CHARS_MAX = 16 * 1024 * 1024

/** A list of spans, as plain data. */
export interface SpanList {
  readonly scope: SpanScope
  /** Empty: by start time, in `direction`. */
  readonly sort: RowQuery['sort']
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  readonly limit: number
  readonly shape: SpanRowShape
  /** The project's own prices; null: no costs are wanted. */
  readonly prices: readonly ProjectPrice[] | null
}

export interface SpanPage {
  readonly spans: readonly AgentSpanRow[]
  readonly total_count: number
}

/** The list of a request. @throws ApiError validation_failed, query_invalid */
export function resolveSpanList(
  { sort_by, offset, limit, include_details, ...request }: AgentSpansQueryRequest,
  limitDefault: number,
): Omit<SpanList, 'scope' | 'prices'> {
  for (const param of ['measures', 'group_filters', 'group_distributions'] as const) {
    if ((request[param] ?? []).length === 0) continue
    throw new ApiError('validation_failed', { param, message: `${param} need group_by.` })
  }
  const sort = resolveSort(sort_by, SPAN_FIELDS)
  const [first] = sort
  const isByStart = !first || (sort.length === 1 && first.path.join('.') === 'started_at')
  return {
    sort: isByStart ? [] : sort,
    direction: first && isByStart ? first.direction : 'desc',
    offset: offset ?? 0,
    limit: limit ?? limitDefault,
    shape: {
      withDetails: include_details ?? false,
      attributes: request.custom_attr_columns ?? [],
    },
  }
}

/** The rows of a page, in the order in which the spans come. */
export function createSpanRows(shape: SpanRowShape, prices: readonly ProjectPrice[] | null) {
  const table = prices && layerPrices(prices)
  const rows: AgentSpanRow[] = []
  let characters = 0
  return {
    /** @throws ApiError validation_failed when the page is too long */
    add(span: AgentSpan): void {
      const row = renderSpanRow(span, costsOf(span, table), shape)
      characters += JSON.stringify(row).length
      if (characters > RESPONSE_CHARS_MAX) throw tooLong()
      rows.push(row)
    },
    rows: (): AgentSpanRow[] => rows,
  }
}

function tooLong(): ApiError {
  const message =
    'The spans of the page are too long for one response: ask for fewer, or without details.'
  return new ApiError('validation_failed', { param: 'limit', message })
}
