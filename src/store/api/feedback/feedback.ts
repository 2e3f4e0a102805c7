/** The contract of the feedback store. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { FeedbackMetrics } from '../../../domain/feedback/feedback-metrics.ts'
import type { FeedbackSample, FeedbackWindow } from '../../../domain/feedback/feedback-sample.ts'
import type { FeedbackSums } from '../../../domain/feedback/feedback-sums.ts'
import type { FeedbackRow } from '../../../domain/feedback/feedback-view.ts'
import type { Feedback } from '../../../domain/feedback/new-feedback.ts'
import type { RowQuery } from '../../../domain/query/row-query.ts'
import type { ApiError } from '../../../errors.ts'
import type { FeedbackPayloadPath } from '../../../schemas/feedback/feedback.ts'
import type {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
} from '../../../schemas/feedback/feedback-stats.ts'

/** The leaf paths of a sample of payloads. */
export interface PayloadPaths {
  /** Distinct, sorted by json_path in code-unit order. */
  readonly paths: readonly FeedbackPayloadPath[]
  /** False when a limit on paths or bytes left something of the sample out. */
  readonly is_complete: boolean
}

/** The result of a query over feedback. */
export interface FeedbackRows {
  /** Rows that meet the condition, as far as they were looked at; all of them when only they are counted. */
  readonly count: number
  /** JSON texts of the page's rows, with the wanted fields. */
  readonly rows: readonly string[]
}

/** Numbers of payloads to sum up. */
export interface FeedbackMeasure {
  readonly window: FeedbackWindow
  readonly metrics: FeedbackMetrics
  /** Where buckets begin, ascending; the last ends with the window. */
  readonly startsUs: Float64Array
}

/** Limit: feedback about one thing in a list, the newest. */
export const FEEDBACK_ABOUT_MAX = 1000

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
   * Stores feedback in one commit. Each item is stored or fails alone, in the order that is given.
   *
   * @returns for each item what createFeedback gives, or the feedback_conflict that it throws
   * @throws ApiError server_overloaded, store_unavailable: then nothing is stored
   */
  createFeedbackBatch(batch: readonly Feedback[]): Promise<readonly (Feedback | ApiError)[]>
  /**
   * Replaces feedback by another: both or nothing happens. When the replaced one is gone and the
   * new one is stored already, this is a repeat and changes nothing.
   *
   * @param replacedId - id of feedback of the same project
   * @returns what is stored
   * @throws ApiError feedback_not_found when there is no such feedback, feedback_conflict when the new id
   * holds other feedback; server_overloaded, store_unavailable
   */
  replaceFeedback(replacedId: string, feedback: Feedback): Promise<Feedback>
  /**
   * Removes feedback by its ids; ids that are unknown in the project count for nothing. Resolves only after
   * it is durable.
   *
   * @throws ApiError server_overloaded, store_unavailable
   */
  purgeFeedback(projectId: string, ids: readonly string[]): Promise<void>
  /**
   * Removes the feedback of one type about some things. Resolves only after it is durable.
   *
   * @param weaveRefs - at most some thousand
   * @throws ApiError server_overloaded, store_unavailable
   */
  purgeAbout(projectId: string, feedbackType: string, weaveRefs: readonly string[]): Promise<void>
  /**
   * The feedback of a project that meets a query. Without an order it is sorted by time, then by id. Sees every
   * feedback that was acknowledged before the call.
   *
   * @param caller - who waits
   * @throws ApiError validation_failed (param `limit`) when the page is too large to be written;
   * server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  queryFeedback(projectId: string, query: RowQuery, caller: ReadCaller): Promise<FeedbackRows>
  /**
   * The feedback of the caller's project about some things, for each ref in their order. Each has its newest
   * FEEDBACK_ABOUT_MAX, the oldest first. Sees every feedback that was acknowledged before the call.
   *
   * @param weave_refs - those of one page; ask for many refs in several reads
   * @param caller - who waits
   * @throws ApiError client_closed_request (or the signal's reason), server_draining, store_unavailable
   */
  listAbout(
    weave_refs: readonly string[],
    caller: ReadCaller,
  ): Promise<readonly (readonly FeedbackRow[])[]>
  /**
   * Leaf paths over the newest payload of each distinct trigger_ref in the window; feedback without a
   * trigger_ref is one group. Among equal times the greater id is the newer. The `sample_limit` newest groups
   * are looked into. Sees every feedback that was acknowledged before the call.
   *
   * @param caller - who waits
   * @throws ApiError server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  findPayloadPaths(sample: FeedbackSample, caller: ReadCaller): Promise<PayloadPaths>
  /**
   * Sums up numbers of the payloads in a window. Sees every feedback that was acknowledged before the call.
   *
   * @param caller - who waits
   * @throws ApiError validation_failed (param `start`) for too many values of percentiles; server_overloaded,
   * read_timeout, client_closed_request, store_unavailable
   */
  measureFeedback(measure: FeedbackMeasure, caller: ReadCaller): Promise<FeedbackSums>
  /**
   * Counts scores by time and group. Sees every feedback that was acknowledged before the call.
   *
   * @param caller - who waits
   * @throws ApiError validation_failed for too many buckets, tags or ratings; server_overloaded, read_timeout,
   * client_closed_request, store_unavailable
   */
  aggregateFeedback(
    request: FeedbackAggregateRequest,
    caller: ReadCaller,
  ): Promise<FeedbackAggregateResponse['buckets']>
}
