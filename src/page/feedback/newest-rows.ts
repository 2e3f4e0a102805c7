/** Fetches the newest feedback of a time range. */
import { requestExact } from '../api/client.ts'
import { newestFirst } from './newest-first.ts'
import type { FeedbackWindow } from './window.ts'

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
