/** The limits of annotation queues. */
import { ApiError } from '../../../errors.ts'
import { QUEUES_LIMIT_MAX } from '../../../schemas/limits.ts'

/** Limit: items of one queue. */
const ITEMS_MAX = 100_000

/** The sums of an unknown queue. */
export const NO_ITEMS = { total_items: 0, completed_items: 0 }

/** @param count - of the queues that a project has before another one. @throws ApiError validation_failed */
export function requireQueueCapacity(count: number): void {
  if (count < QUEUES_LIMIT_MAX) return
  const message = `A project has at most ${QUEUES_LIMIT_MAX} annotation queues.`
  throw new ApiError('validation_failed', { param: 'project_id', message })
}

/** @param count - of the items after an addition, which the error undoes. @throws ApiError validation_failed */
export function requireItemLimit(count: number, param: string): void {
  if (count <= ITEMS_MAX) return
  const message = `A queue has at most ${ITEMS_MAX} items.`
  throw new ApiError('validation_failed', { param, message })
}
