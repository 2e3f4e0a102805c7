/**
 * Items of annotation queues on the wire: calls or spans in a queue, and how far annotators are with them.
 *
 * Spec: §2.2 queue_id (queues are an addition). Choice: the routes and fields of the public tracing clients.
 */

import { z } from 'zod'
import { ITEMS_LIMIT_MAX } from '../limits.ts'
import { ClientId, ProjectId, switchField, Time } from '../primitives.ts'
import { pageFields } from '../query/page-query.ts'
import { orderOf } from '../query/query-expression.ts'

/** Limit: calls of one request. */
const CALLS_MAX = 1000
/** Limit: paths that annotators are shown, and characters of each. */
const FIELDS_MAX = 100
const FIELD_CHARS_MAX = 1024
const ANNOTATION_STATES = ['unstarted', 'in_progress', 'completed', 'skipped'] as const
export const AnnotationState = z.enum(ANNOTATION_STATES)
export type AnnotationState = z.infer<typeof AnnotationState>

export const AnnotationItemsAddRequest = z.strictObject({
  project_id: ProjectId,
  call_ids: z
    .array(ClientId)
    .max(CALLS_MAX)
    .nullish()
    .describe('Calls to add to the queue, or ids of spans; each is in a queue at most once.'),
  span_refs: z
    .array(
      z.strictObject({
        trace_id: ClientId.describe('Trace of the span.'),
        span_id: ClientId.describe('The span.'),
      }),
    )
    .max(CALLS_MAX)
    .nullish()
    .describe('Spans to add to a queue of spans, instead of call_ids.'),
  display_fields: z
    .array(z.string().max(FIELD_CHARS_MAX))
    .max(FIELDS_MAX)
    .nullish()
    .describe('Paths to show to annotators, such as `inputs.prompt`. Default: inputs and output.'),
})
export type AnnotationItemsAddRequest = z.infer<typeof AnnotationItemsAddRequest>

export const AnnotationItemsAddResponse = z.object({
  added_count: z.int().describe('Items that were added.'),
  duplicates: z.int().describe('Those that were in the queue already, or named twice.'),
})

const ITEM_SORT_FIELDS = ['created_at', 'updated_at', 'call_started_at', 'call_op_name'] as const

const exactly = (what: string) => z.string().max(1024).nullish().describe(`Exactly this ${what}.`)

const AnnotationItemsFilter = z.strictObject({
  id: exactly('item'),
  call_id: exactly('call'),
  call_op_name: exactly('op'),
  call_trace_id: exactly('trace'),
  added_by: exactly('user who added it'),
  annotation_states: z
    .array(AnnotationState)
    .max(ANNOTATION_STATES.length)
    .nullish()
    .describe('Items in one of these states.'),
})

export const AnnotationItemsQueryRequest = z.strictObject({
  project_id: ProjectId,
  filter: AnnotationItemsFilter.nullish().describe('Which items; all when absent.'),
  sort_by: orderOf(ITEM_SORT_FIELDS).describe('Order. Default: as added.'),
  ...pageFields('items', ITEMS_LIMIT_MAX),
  include_position: switchField('Whether to fill position_in_queue.'),
})
export type AnnotationItemsQueryRequest = z.infer<typeof AnnotationItemsQueryRequest>

export const AnnotationItemSchema = z
  .object({
    id: z.string().describe('Id of the item.'),
    project_id: z.string().describe('Project, `<entity>/<project>`.'),
    queue_id: z.string().describe('Id of the queue.'),
    call_id: z.string().describe('The call; a span is a call with its id.'),
    call_started_at: Time.describe('When the call began, UTC.'),
    call_ended_at: Time.nullable().describe('When it ended; null while it runs.'),
    call_op_name: z.string().describe('Op of the call.'),
    call_trace_id: z.string().describe('Trace of the call.'),
    span_id: z.string().nullable().describe('The span; null in a queue of calls.'),
    trace_id: z.string().nullable().describe('Trace of the span; null in a queue of calls.'),
    display_fields: z
      .array(z.string())
      .describe('Paths to show to annotators; empty: inputs and output.'),
    added_by: z.string().nullable().describe('User whose key added it.'),
    annotation_state: AnnotationState.describe('State set by the last annotator.'),
    annotator_user_id: z
      .string()
      .nullable()
      .describe('The last annotator; null when nobody has begun.'),
    created_at: Time.describe('When it was added, UTC.'),
    created_by: z.string().describe('The same as added_by.'),
    updated_at: Time.describe('When it was last changed, UTC.'),
    deleted_at: Time.nullable().describe('Always null.'),
    position_in_queue: z
      .int()
      .nullable()
      .describe('Its position in the whole queue in this order, from 1; null unless requested.'),
  })
  .meta({ id: 'AnnotationItemSchema', description: 'A call or a span in a queue.' })
export type AnnotationItemSchema = z.infer<typeof AnnotationItemSchema>

export const AnnotationItemsQueryResponse = z.object({
  items: z.array(AnnotationItemSchema).describe('The items.'),
})

export const AnnotationItemPath = z.object({
  queue_id: ClientId.describe('Id of the queue.'),
  item_id: ClientId.describe('Id of the item.'),
})

export const AnnotationProgressRequest = z.strictObject({
  project_id: ProjectId,
  annotation_state: AnnotationState.exclude(['unstarted']).describe(
    '`in_progress` claims the item; fails with annotation_conflict while another annotator holds it.',
  ),
})

export const AnnotationProgressResponse = z.object({
  item: AnnotationItemSchema.describe('The changed item.'),
})
