/** The newest feedback of a time range: its query, and the rows that are listed. */
import { requestExact } from '../api/client.ts'
import { field, literal } from '../calls/search/conditions.ts'

/** The window in the address, with its current times. */
export interface FeedbackWindow {
  readonly project_id: string
  readonly start: string
  readonly end: string
  readonly feedback_type: string | null
}

/** Body of `/feedback/query`. */
export function newestFirst(
  { project_id, start, end, feedback_type }: FeedbackWindow,
  fields: readonly string[],
  limit: number,
) {
  const conditions: object[] = [
    { $gte: [field('created_at'), literal(start)] },
    { $lt: [field('created_at'), literal(end)] },
  ]
  if (feedback_type !== null)
    conditions.push({ $eq: [field('feedback_type'), literal(feedback_type)] })
  return {
    project_id,
    fields,
    limit,
    query: { $expr: { $and: conditions } },
    sort_by: [{ field: 'created_at', direction: 'desc' }],
  }
}

/** Limit: feedback that is listed, and whose payloads are searched for paths. */
const ROWS_MAX = 100
const FIELDS = [
  'id',
  'created_at',
  'feedback_type',
  'creator',
  'svc_user_id',
  'payload',
  'weave_ref',
]

export interface FeedbackRow {
  readonly id: string
  readonly created_at: string
  readonly feedback_type: string
  /** A name that the program set. */
  readonly creator: string | null
  /** The user of the key. */
  readonly svc_user_id: string | null
  readonly payload: Readonly<Record<string, unknown>>
  readonly weave_ref: string
}

export async function readNewest(
  asked: FeedbackWindow,
  signal: AbortSignal,
): Promise<readonly FeedbackRow[]> {
  const body = newestFirst(asked, FIELDS, ROWS_MAX)
  return (await requestExact<{ result: FeedbackRow[] }>('/feedback/query', body, { signal })).result
}
