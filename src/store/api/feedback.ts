/** The contract of the feedback store. */
import type { FeedbackSample } from '../../domain/feedback-sample.ts'
import type { Feedback } from '../../domain/new-feedback.ts'
import type { FeedbackPayloadPath } from '../../schemas/feedback.ts'

/** The leaf paths of a sample of payloads. */
export interface PayloadPaths {
  /** Distinct, sorted by json_path in code-unit order. */
  readonly paths: readonly FeedbackPayloadPath[]
  /** False when a limit on paths or bytes left something of the sample out. */
  readonly is_complete: boolean
}

export interface FeedbackStore {
  /**
   * Stores feedback. Resolves only after it is durable. Ids are unique in a project. The same feedback again
   * under the same id changes nothing.
   *
   * @returns what is stored: on a repeat that of the first time, with its time and user
   * @throws ApiError feedback_conflict when the id holds other feedback; server_overloaded,
   * store_unavailable
   */
  createFeedback(feedback: Feedback): Promise<Feedback>
  /**
   * Leaf paths over the newest payload of each distinct trigger_ref in the window; feedback without one is
   * one group. Of equal times the greater id is the newer. The `sample_limit` newest groups are looked into.
   * Sees every feedback that was acknowledged before the call.
   *
   * @param signal - aborted when nobody waits any more
   * @throws ApiError server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  findPayloadPaths(sample: FeedbackSample, signal: AbortSignal): Promise<PayloadPaths>
}
