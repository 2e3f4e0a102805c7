/** The query for the newest feedback of a time range. */
import type { FeedbackWindow } from './window.ts'

/** Body of `/feedback/query`. */
export function newestFirst(
  { project_id, start, end, feedback_type }: FeedbackWindow,
  fields: readonly string[],
  limit: number,
) {
  const field = (name: string) => ({ $getField: name })
  const conditions: object[] = [
    { $gte: [field('created_at'), { $literal: start }] },
    { $lt: [field('created_at'), { $literal: end }] },
  ]
  if (feedback_type !== null)
    conditions.push({ $eq: [field('feedback_type'), { $literal: feedback_type }] })
  return {
    project_id,
    fields,
    limit,
    query: { $expr: { $and: conditions } },
    sort_by: [{ field: 'created_at', direction: 'desc' }],
  }
}
