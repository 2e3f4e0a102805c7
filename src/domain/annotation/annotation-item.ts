/** Items of annotation queues: their format, and the steps that annotators may take. Pure. Spec: §2.2 queue_id. */
import { ApiError } from '../../errors.ts'
import type {
  AnnotationItemSchema,
  AnnotationState,
} from '../../schemas/annotation/annotation-item.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'

/** What a queue knows of a call. Times in microseconds. */
export interface QueuedCall {
  readonly call_id: string
  readonly call_started_at_us: number
  readonly call_ended_at_us: number | null
  readonly call_op_name: string
  readonly call_trace_id: string
}

/** A stored item with its call. Times in microseconds. */
export interface AnnotationItem extends QueuedCall {
  readonly id: string
  readonly project_id: string
  readonly queue_id: string
  /** JSON text of a list. */
  readonly display_fields_json: string
  readonly added_by: string
  readonly annotation_state: AnnotationState
  readonly annotator_user_id: string | null
  readonly created_at_us: number
  readonly updated_at_us: number
  /** From 1; null when not requested. */
  readonly position_in_queue: number | null
}

export function renderItem(item: AnnotationItem): AnnotationItemSchema {
  const { call_started_at_us, call_ended_at_us, display_fields_json, ...rest } = item
  const { created_at_us, updated_at_us, ...named } = rest
  return {
    ...named,
    call_started_at: renderTimestamp(call_started_at_us),
    call_ended_at: renderTimestampOrNull(call_ended_at_us),
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
