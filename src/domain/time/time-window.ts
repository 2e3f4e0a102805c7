/** Resolves the time window of a request against the current time, which the handler provides. Pure. */
import { ApiError } from '../../errors.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import type { TimeWindow } from '../stats/buckets.ts'

/**
 * The window [start, end); an absent end is now.
 *
 * @param nowUs - microseconds since the epoch
 * @throws ApiError validation_failed, param `end`, when the end lies before the start
 *
 * Spec: §4.4 start, end. Choice: an empty window is allowed, a long one too.
 */
export function resolveWindow(
  { start, end }: { readonly start: string; readonly end?: string | null | undefined },
  nowUs: number,
): TimeWindow {
  const startUs = timestampUs(start)
  const endUs = end == null ? nowUs : timestampUs(end)
  if (endUs < startUs) {
    const message =
      end == null ? 'start lies in the future and end is absent' : 'end must not be before start'
    throw new ApiError('validation_failed', { message, param: 'end' })
  }
  return { startUs, endUs }
}
