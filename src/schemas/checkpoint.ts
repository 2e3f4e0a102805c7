/** Checkpoints on the wire. Spec: §2.13, §4.9, §8. */
import { z } from 'zod'
import { FreeObject } from './primitives.ts'

export const CHECKPOINT_LIMIT_DEFAULT = 20
export const CHECKPOINT_LIMIT_MAX = 100
export const CHECKPOINT_ORDERS = ['asc', 'desc'] as const
export type CheckpointOrder = (typeof CHECKPOINT_ORDERS)[number]

const WHOLE = /^[1-9]\d{0,2}$/

/**
 * Path of the checkpoint list.
 *
 * Spec: §4.9. Choice: a model_id that is no UUID is a model that does not exist (404), not a 422.
 */
export const CheckpointListParams = z.object({
  model_id: z.string().describe('Id of the model, a UUID.'),
})

/**
 * Query of the checkpoint list. Values are texts here; domain/checkpoint.ts reads them.
 *
 * Spec: §4.9 after, limit, order; §8 checkpoints limit.
 * Choice: out of range is refused, not clamped; unknown and repeated names are refused.
 */
export const CheckpointListQuery = z.strictObject({
  after: z
    .string('must be given once')
    .max(128, 'must have at most 128 characters')
    .optional()
    .describe('Cursor: id of the last item of the previous page. Empty: from the beginning.'),
  limit: z
    .string('must be given once')
    .refine(
      (text) => WHOLE.test(text) && Number(text) <= CHECKPOINT_LIMIT_MAX,
      `must be a whole number from 1 to ${CHECKPOINT_LIMIT_MAX}`,
    )
    .optional()
    .describe(`Items of a page, 1 to ${CHECKPOINT_LIMIT_MAX}. Default ${CHECKPOINT_LIMIT_DEFAULT}.`)
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: CHECKPOINT_LIMIT_MAX,
      default: CHECKPOINT_LIMIT_DEFAULT,
    }),
  order: z
    .enum(CHECKPOINT_ORDERS, 'must be asc or desc')
    .optional()
    .describe('Order by step. Default asc.')
    .meta({ default: 'asc' }),
})
export type CheckpointListQuery = z.infer<typeof CheckpointListQuery>

/** Spec: §2.13. */
export const CheckpointResponse = z
  .object({
    id: z.string().describe('Id of the checkpoint, a UUID.'),
    step: z.int().describe('Training step that it holds, >= 0; unique in its model.'),
    metrics: FreeObject.describe('Numbers of the training step by name.'),
  })
  .meta({ id: 'CheckpointResponse', description: 'The weights of a model after a step.' })
export type CheckpointResponse = z.infer<typeof CheckpointResponse>

/** Spec: §4.9. */
export const CheckpointListResponse = z
  .object({
    data: z.array(CheckpointResponse).describe('The page, in the asked order.'),
    has_more: z.boolean().describe('Whether more items follow the page.'),
    object: z.literal('list').describe('Always `list`.'),
    first_id: z.string().describe('Id of the first item of the page; empty without items.'),
    last_id: z.string().describe('Id of the last item of the page; empty without items.'),
  })
  .meta({ id: 'CheckpointListResponse', description: 'A page of checkpoints.' })
export type CheckpointListResponse = z.infer<typeof CheckpointListResponse>
