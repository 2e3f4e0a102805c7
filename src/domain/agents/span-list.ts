/** Lists of spans: order, paging and the fields of each span. Pure. */

import { ApiError } from '../../errors.ts'
import type { AgentSpansQueryRequest } from '../../schemas/agents/agent-spans.ts'
import { type RowQuery, resolveSort } from '../query/row-query.ts'
import type { SpanRowShape } from './span-row.ts'
import { SPAN_FIELDS } from './span-values.ts'

/** Plain data. */
interface ResolvedSpanList {
  /** Empty: by the start, in `direction`. */
  readonly sort: RowQuery['sort']
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  readonly limit: number
  readonly shape: SpanRowShape
}

/** @throws ApiError validation_failed, query_invalid */
export function resolveSpanList(
  { sort_by, offset, limit, include_details, ...request }: AgentSpansQueryRequest,
  limitDefault: number,
): ResolvedSpanList {
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
