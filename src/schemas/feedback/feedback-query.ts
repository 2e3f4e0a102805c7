/** Feedback on the wire beyond the spec: batches, replacing, queries. */
import { z } from 'zod'
import { BatchItemError, RefusedItem } from '../batch-item-error.ts'
import { describeJson } from '../bounded-fields.ts'
import { ClientId, FreeObject } from '../primitives.ts'
import {
  FeedbackCreateRequest,
  FeedbackCreateResponse,
  LooseFeedbackCreateRequest,
} from './feedback.ts'

/** Limit: items of one batch. */
const BATCH_MAX = 10_000

/** Batch of feedback. Each item is checked on its own, so that a bad item fails alone. */
export const FeedbackBatchCreateRequest = z
  .strictObject({
    batch: z
      .array(z.unknown())
      .max(BATCH_MAX, `must have at most ${BATCH_MAX} items`)
      .meta({
        description: 'Bodies of `/feedback/create`. An invalid item fails alone.',
        items: describeJson(FeedbackCreateRequest),
      }),
  })
  .meta({ id: 'FeedbackBatchCreateRequest', description: 'Feedback to store at once.' })

export const FeedbackBatchCreateResponse = z.object({
  res: z
    .array(z.union([FeedbackCreateResponse, RefusedItem]))
    .describe('For each item the stored feedback, or the error.'),
  errors: z.array(BatchItemError).describe('The items that were not stored.'),
})

const replaced = ClientId.describe('Id of the feedback to replace.')

export const FeedbackReplaceRequest = FeedbackCreateRequest.extend({
  feedback_id: replaced,
}).meta({ id: 'FeedbackReplaceRequest', description: 'Feedback that replaces another.' })

export const LooseFeedbackReplaceRequest = LooseFeedbackCreateRequest.extend({
  feedback_id: replaced,
})

export const FeedbackQueryResponse = z.object({
  result: z.array(FreeObject).describe('The rows, each with the requested fields.'),
})
