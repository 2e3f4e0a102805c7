/**
 * Prepares a client's feedback for the store, and the response about it. Pure; the caller provides id, user and
 * time.
 */

import { ApiError } from '../../errors.ts'
import type {
  FeedbackCreateRequest,
  FeedbackCreateResponse,
} from '../../schemas/feedback/feedback.ts'
import { SCORE_FIELDS } from '../../schemas/feedback/score-defaults.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { emojiAlias } from './emoji-alias.ts'
import { REACTION } from './feedback-rules.ts'

/** Feedback as it is stored. Time in microseconds, payload as JSON text. */
export interface Feedback {
  readonly project_id: string
  readonly id: string
  readonly weave_ref: string
  readonly feedback_type: string
  readonly creator: string | null
  readonly annotation_ref: string | null
  readonly runnable_ref: string | null
  readonly call_ref: string | null
  readonly trigger_ref: string | null
  readonly queue_id: string | null
  readonly svc_user_id: string
  readonly created_at_us: number
  readonly payload_json: string
  /** JSON of the sent fields of SCORE_FIELDS; null for none. */
  readonly scores_json: string | null
}

interface FeedbackDefaults {
  readonly id: string
  readonly svc_user_id: string
  readonly created_at_us: number
}

/**
 * Resolves feedback that satisfies the rules of its type.
 *
 * @param payloadBytesMax - bytes of the payload's JSON text
 * @throws ApiError request_too_large, param payload
 *
 * Spec: §2.2, §8 (size limits not shown). Choice: the payload has a limit of its own; that of a reaction is stored
 * with the names of its emoji, with and without skin tones.
 */
export function resolveFeedback(
  request: FeedbackCreateRequest,
  defaults: FeedbackDefaults,
  payloadBytesMax: number,
): Feedback {
  const payload_json = renderJson(storedPayload(request))
  if (Buffer.byteLength(payload_json) > payloadBytesMax) {
    const message = `The payload has more than ${payloadBytesMax} bytes.`
    throw new ApiError('request_too_large', { param: 'payload', message })
  }
  return {
    project_id: request.project_id,
    id: request.id ?? defaults.id,
    weave_ref: request.weave_ref,
    feedback_type: request.feedback_type,
    creator: request.creator ?? null,
    annotation_ref: request.annotation_ref ?? null,
    runnable_ref: request.runnable_ref ?? null,
    call_ref: request.call_ref ?? null,
    trigger_ref: request.trigger_ref ?? null,
    queue_id: request.queue_id ?? null,
    svc_user_id: defaults.svc_user_id,
    created_at_us: defaults.created_at_us,
    payload_json,
    scores_json: renderScores(request),
  }
}

function storedPayload({ feedback_type, payload }: FeedbackCreateRequest): JsonObject {
  const { emoji } = payload
  if (!feedback_type.startsWith(REACTION) || typeof emoji !== 'string') return payload
  return { ...payload, ...emojiAlias(emoji) }
}

function renderScores(request: FeedbackCreateRequest): string | null {
  const given = SCORE_FIELDS.filter((field) => (request[field] ?? null) !== null)
  if (given.length === 0) return null
  return renderJson(Object.fromEntries(given.map((field) => [field, request[field]])))
}

/** Returns the response about stored feedback. Spec: §2.3. */
export function renderFeedback(feedback: Feedback): FeedbackCreateResponse {
  return {
    id: feedback.id,
    created_at: renderTimestamp(feedback.created_at_us),
    svc_user_id: feedback.svc_user_id,
    payload: parseLossless(feedback.payload_json) as JsonObject,
  }
}

/**
 * Whether repeated feedback equals the stored one in all fields that a client can send.
 *
 * Spec: §4.1 id. Choice: a repeat by another user of the project counts as the same; the order of the
 * payload's keys makes a difference, as a repeat is the same text.
 */
export function isSameFeedback(stored: Feedback, repeated: Feedback): boolean {
  return (
    stored.weave_ref === repeated.weave_ref &&
    stored.feedback_type === repeated.feedback_type &&
    stored.creator === repeated.creator &&
    stored.annotation_ref === repeated.annotation_ref &&
    stored.runnable_ref === repeated.runnable_ref &&
    stored.call_ref === repeated.call_ref &&
    stored.trigger_ref === repeated.trigger_ref &&
    stored.queue_id === repeated.queue_id &&
    stored.payload_json === repeated.payload_json &&
    stored.scores_json === repeated.scores_json
  )
}
