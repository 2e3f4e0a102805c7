/** Resolves the time window of a request against the current time, which the handler provides. Pure. */
import { ApiError } from '../../errors.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import type { TimeWindow } from '../stats/buckets.ts'

const US_PER_MS = 1000

/**
 * The window [start, end); an absent end is that of the current millisecond, so that what began in it counts.
 *
 * @param nowMs - milliseconds since the epoch
 * @throws ApiError validation_failed, param `end`, when the end lies before the start
 *
 * Spec: §4.4 start, end. Choice: an empty window is allowed, a long one too.
 */
export function resolveWindow(
  { start, end }: { readonly start: string; readonly end?: string | null | undefined },
  nowMs: number,
): TimeWindow {
  const startUs = timestampUs(start)
  const endUs = end == null ? nowMs * US_PER_MS + US_PER_MS - 1 : timestampUs(end)
  if (endUs < startUs) {
    const message =
      end == null ? 'start lies in the future and end is absent' : 'end must not be before start'
    throw new ApiError('validation_failed', { message, param: 'end' })
  }
  return { startUs, endUs }
}
