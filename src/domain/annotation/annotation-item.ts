/** Items of annotation queues: their format, and the steps that annotators may take. Pure. Spec: §2.2 queue_id. */
import { ApiError } from '../../errors.ts'
import type {
  AnnotationItemSchema,
  AnnotationItemsAddRequest,
  AnnotationState,
} from '../../schemas/annotation/annotation-item.ts'
import type { QueueType } from '../../schemas/annotation/annotation-queue.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import type { CallTexts } from '../calls/call-view.ts'

/** The fields of a call that a queue shows. Times in microseconds. */
export interface QueuedCall {
  readonly call_id: string
  readonly call_started_at_us: number
  readonly call_ended_at_us: number | null
  readonly call_op_name: string
  readonly call_trace_id: string
}

export function toQueuedCall({
  id,
  started_at_us,
  ended_at_us,
  op_name,
  trace_id,
}: CallTexts): QueuedCall {
  return {
    call_id: id,
    call_started_at_us: started_at_us,
    call_ended_at_us: ended_at_us,
    call_op_name: op_name,
    call_trace_id: trace_id,
  }
}

/** Calls to queue, by the field of the request that names them. */
export interface NamedCalls {
  readonly param: 'call_ids' | 'span_refs'
  /** A trace_id of null is any. */
  readonly calls: readonly { readonly call_id: string; readonly trace_id: string | null }[]
  /** Whether calls that were not received as spans are unknown. */
  readonly areSpans: boolean
}

/** The calls that a request adds to a queue. @throws ApiError validation_failed */
export function resolveNamedCalls(
  queue_type: QueueType,
  { call_ids, span_refs }: Pick<AnnotationItemsAddRequest, 'call_ids' | 'span_refs'>,
): NamedCalls {
  const areSpans = queue_type === 'span'
  if (span_refs && !areSpans) throw refused('span_refs', 'The queue holds calls: use call_ids.')
  if (span_refs && call_ids) throw refused('span_refs', 'Use either call_ids or span_refs.')
  if (span_refs) {
    const calls = span_refs.map(({ trace_id, span_id }) => ({ call_id: span_id, trace_id }))
    return { param: 'span_refs', calls, areSpans }
  }
  const param = 'call_ids'
  if (!call_ids) throw refused(param, `${areSpans ? 'span_refs or call_ids' : param} is required.`)
  return { param, calls: call_ids.map((call_id) => ({ call_id, trace_id: null })), areSpans }
}

function refused(param: string, message: string): ApiError {
  return new ApiError('validation_failed', { param, message })
}

/** A stored item with its call. Times in microseconds. */
export interface AnnotationItem extends QueuedCall {
  readonly id: string
  readonly project_id: string
  readonly queue_id: string
  readonly queue_type: QueueType
  /** JSON text of a list. */
  readonly display_fields_json: string
  readonly added_by: string
  readonly annotation_state: AnnotationState
  readonly annotator_user_id: string | null
  readonly created_at_us: number
  readonly updated_at_us: number
  /** Position in the queue, from 1; null when not requested. */
  readonly position_in_queue: number | null
}

export function renderItem(item: AnnotationItem): AnnotationItemSchema {
  const { call_started_at_us, call_ended_at_us, display_fields_json, ...rest } = item
  const { created_at_us, updated_at_us, queue_type, ...named } = rest
  const isSpan = queue_type === 'span'
  return {
    ...named,
    call_started_at: renderTimestamp(call_started_at_us),
    call_ended_at: renderTimestampOrNull(call_ended_at_us),
    span_id: isSpan ? item.call_id : null,
    trace_id: isSpan ? item.call_trace_id : null,
    display_fields: JSON.parse(display_fields_json),
    created_at: renderTimestamp(created_at_us),
    created_by: item.added_by,
    updated_at: renderTimestamp(updated_at_us),
    deleted_at: null,
  }
}

export type ReachedState = Exclude<AnnotationState, 'unstarted'>

/** Limit: lifetime of a claim, in microseconds: an hour. */
export const CLAIM_US = 60 * 60 * 1_000_000

/**
 * Refuses a step that an annotator may not take.
 *
 * @param own - where the annotator is; null before the first step
 * @param isHeld - whether another annotator has claimed the item within CLAIM_US and not finished
 * @throws ApiError annotation_conflict
 *
 * Spec: §3 (no states are given). Choice: one annotator at a time has a claim, which lapses after an hour; each
 * finishes once, and an annotator who has finished claims the item no more. The same step again is taken again.
 */
export function requireStep(own: ReachedState | null, wanted: ReachedState, isHeld: boolean): void {
  if (wanted === 'in_progress' && isHeld) {
    const message = 'Another annotator has claimed the item.'
    throw new ApiError('annotation_conflict', { message })
  }
  if (own === null || own === 'in_progress' || own === wanted) return
  const message = `The annotator has ${own} the item already.`
  throw new ApiError('annotation_conflict', { message })
}
