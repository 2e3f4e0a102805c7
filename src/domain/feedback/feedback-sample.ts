/** Which feedback a payload schema looks into. Pure: the time comes in. */
import { ApiError } from '../../errors.ts'
import {
  type FeedbackPayloadSchemaRequest,
  SAMPLE_LIMIT_DEFAULT,
} from '../../schemas/feedback/feedback.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import { parseRef, wildcardPrefix } from '../objects/refs.ts'

/** A window [start_us, end_us) on created_at, microseconds, with filters; null is no filter. */
export interface FeedbackSample {
  readonly project_id: string
  readonly start_us: number
  readonly end_us: number
  readonly feedback_type: string | null
  /** At most one of the two is set. */
  readonly trigger_ref: string | null
  readonly trigger_prefix: string | null
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
export function resolveFeedbackSample(
  request: FeedbackPayloadSchemaRequest,
  nowUs: number,
): FeedbackSample {
  const { project_id, start, end, feedback_type, trigger_ref, sample_limit } = request
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
    sample_limit: sample_limit ?? SAMPLE_LIMIT_DEFAULT,
  }
}

/**
 * The prefix that a pattern stands for, colon included, or null when it is one whole ref.
 *
 * Spec: §4.2 trigger_ref. Choice: all versions are asked for by `<name>:*` or by leaving the digest out; the
 * colon belongs to the prefix, so that `foo:*` does not find `foobar:v1`.
 */
function triggerPrefix(pattern: string): string | null {
  return wildcardPrefix(pattern) ?? (parseRef(pattern) === null ? `${pattern}:` : null)
}
