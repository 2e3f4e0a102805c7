/** Selects the feedback that payload schemas and statistics read. Pure; the caller provides the time. */

import { ApiError } from '../../errors.ts'
import type { FeedbackPayloadSchemaRequest } from '../../schemas/feedback/feedback.ts'
import { SAMPLE_LIMIT_DEFAULT } from '../../schemas/limits.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import { parseRef, wildcardPrefix } from '../objects/refs.ts'

/** Limit: characters of payloads parsed for one result, about three seconds of parsing. */
export const SAMPLE_CHARACTERS_MAX = 256 * 1024 * 1024

/** A window [start_us, end_us) on created_at, microseconds, with filters; null is no filter. */
export interface FeedbackWindow {
  readonly project_id: string
  readonly start_us: number
  readonly end_us: number
  readonly feedback_type: string | null
  /** At most one of the two is set. */
  readonly trigger_ref: string | null
  readonly trigger_prefix: string | null
}

export interface FeedbackSample extends FeedbackWindow {
  /** Distinct trigger_refs. */
  readonly sample_limit: number
}

/**
 * Resolves the request's defaults.
 *
 * @throws ApiError validation_failed when the window ends before it starts; param is `end`, or `start` when
 * no end was sent
 *
 * Spec: §4.2, §8. Choice: an empty window is allowed and finds nothing; a window may have any length.
 */
export function resolveFeedbackWindow(
  request: Omit<FeedbackPayloadSchemaRequest, 'sample_limit'>,
  nowUs: number,
): FeedbackWindow {
  const { project_id, start, end, feedback_type, trigger_ref } = request
  const start_us = timestampUs(start)
  const end_us = typeof end === 'string' ? timestampUs(end) : nowUs
  if (end_us < start_us) {
    const [param, message] =
      typeof end === 'string'
        ? ['end', 'end must not be before start']
        : ['start', 'start must not be in the future without an end']
    throw new ApiError('validation_failed', { param, message })
  }
  const pattern = trigger_ref ?? null
  const trigger_prefix = pattern === null ? null : triggerPrefix(pattern)
  return {
    project_id,
    start_us,
    end_us,
    feedback_type: feedback_type ?? null,
    trigger_ref: trigger_prefix === null ? pattern : null,
    trigger_prefix,
  }
}

/** Resolves the request's defaults, including the limit of the sample. @throws ApiError validation_failed */
export function resolveFeedbackSample(
  request: FeedbackPayloadSchemaRequest,
  nowUs: number,
): FeedbackSample {
  const { sample_limit = SAMPLE_LIMIT_DEFAULT } = request
  return { ...resolveFeedbackWindow(request, nowUs), sample_limit }
}

/** The fields of feedback that the index of a window contains. */
export interface WindowEntry {
  readonly feedback_type: string
  readonly trigger_ref: string | null
}

/** Whether feedback of the time of a window is of its type and trigger. */
export function isInWindow(entry: WindowEntry, window: FeedbackWindow): boolean {
  const { feedback_type, trigger_ref, trigger_prefix } = window
  if (feedback_type !== null && entry.feedback_type !== feedback_type) return false
  if (trigger_ref !== null && entry.trigger_ref !== trigger_ref) return false
  return trigger_prefix === null || (entry.trigger_ref?.startsWith(trigger_prefix) ?? false)
}

/**
 * Returns the prefix that a pattern stands for, colon included, or null when it is one whole ref.
 *
 * Spec: §4.2 trigger_ref. Choice: all versions are asked for by `<name>:*` or by leaving the digest out; the
 * colon belongs to the prefix, so that `foo:*` does not find `foobar:v1`.
 */
function triggerPrefix(pattern: string): string | null {
  return wildcardPrefix(pattern) ?? (parseRef(pattern) === null ? `${pattern}:` : null)
}
