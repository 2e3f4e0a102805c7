/** Questions for the newest feedback of a time. */
import type { FeedbackWindow } from './window.ts'

interface Wanted {
  readonly fields: readonly string[]
  readonly limit: number
  /** Types that are left out. */
  readonly otherThan?: readonly string[]
}

/** Asked of `/feedback/query`. */
export function newestFirst(
  { project_id, start, end, feedback_type }: FeedbackWindow,
  { otherThan = [], ...wanted }: Wanted,
) {
  const field = (name: string) => ({ $getField: name })
  const type = field('feedback_type')
  const conditions: object[] = [
    { $gte: [field('created_at'), { $literal: start }] },
    { $lt: [field('created_at'), { $literal: end }] },
  ]
  if (feedback_type !== null) conditions.push({ $eq: [type, { $literal: feedback_type }] })
  if (otherThan.length > 0) {
    conditions.push({ $not: [{ $in: [type, otherThan.map(($literal) => ({ $literal }))] }] })
  }
  return {
    ...{ project_id, ...wanted },
    query: { $expr: { $and: conditions } },
    sort_by: [{ field: 'created_at', direction: 'desc' }],
  }
}
