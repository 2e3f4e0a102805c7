/** The values at a path of payloads: the newest for their distribution, and those at either end with what they are about. */
import { requestExact } from '../api/client.ts'
import { isThere } from '../calls/search/conditions.ts'
import { type FeedbackWindow, newestFirst } from './newest-rows.ts'

/** Limit: newest values whose distribution is shown. */
export const VALUES_MAX = 5000

interface ScoreValue {
  readonly id: string
  readonly created_at: string
  readonly feedback_type: string
  readonly weave_ref: string
  readonly value: unknown
}

type Row = Readonly<Record<string, unknown>> & Omit<ScoreValue, 'value'>

/** @param order - by time, or by value */
export async function readScoreValues(
  asked: FeedbackWindow,
  field: string,
  order: { readonly by: 'created_at' | 'value'; readonly direction: 'asc' | 'desc' },
  limit: number,
  signal: AbortSignal,
): Promise<readonly ScoreValue[]> {
  const fields = ['id', 'created_at', 'feedback_type', 'weave_ref', field]
  const { query, ...body } = newestFirst(asked, fields, limit)
  const { result } = await requestExact<{ result: Row[] }>(
    '/feedback/query',
    {
      ...body,
      query: { $expr: { $and: [...query.$expr.$and, isThere(field)] } },
      sort_by: [{ field: order.by === 'value' ? field : order.by, direction: order.direction }],
    },
    { signal },
  )
  return result.map((row) => ({ ...row, value: row[field] }))
}
