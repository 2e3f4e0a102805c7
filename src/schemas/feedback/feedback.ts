/** Feedback on the wire: create and payload schema. Spec: §2.2, §2.3, §2.4, §4.1, §4.2, §8. */

import { z } from 'zod'
import { SAMPLE_LIMIT_DEFAULT } from '../limits.ts'
import { AnyRef, ClientId, FreeObject, nameOf, ProjectId, refOf, Time } from '../primitives.ts'
import { isRefShape } from '../shapes.ts'
import { FEEDBACK_SCORES } from './feedback-scores.ts'
import { FeedbackType, FeedbackWindowFields } from './feedback-window.ts'

const CREATOR_MAX = 256

const SAMPLE_LIMIT_MAX = 5000

/**
 * Spec: §2.2, §4.1. Choice: a `svc_user_id` that is set is refused and not dropped, because a client that
 * sends one believes that it counts.
 */
export const FeedbackCreateRequest = z
  .strictObject({
    project_id: ProjectId,
    id: ClientId.nullish().describe('Id chosen by the client; a new UUIDv7 when absent.'),
    weave_ref: refOf('object')
      .refine((text) => !isRefShape(text, ['call']), 'is about a call: see /traces/feedback/create')
      .describe(
        'Ref of the object that the feedback is on; feedback on calls goes to `/traces/feedback/create`.',
      ),
    feedback_type: FeedbackType.describe(
      'Type of the feedback, any text; payloads of `wandb.reaction`, `wandb.note`, `wandb.annotation.<name>` and `wandb.runnable.<name>` have rules.',
    ),
    payload: FreeObject.describe(
      'Content, any object; at most 1 MiB of JSON unless configured otherwise.',
    ),
    creator: nameOf(CREATOR_MAX).nullish().describe('Name of the author.'),
    annotation_ref: refOf('object').nullish().describe('Annotation spec that was filled in.'),
    runnable_ref: refOf('op').nullish().describe('Op that made the feedback.'),
    call_ref: refOf('call').nullish().describe('Call that made the feedback.'),
    trigger_ref: refOf('object').nullish().describe('Object that started the run of the op.'),
    queue_id: ClientId.nullish().describe(
      'Annotation queue that it comes from; null outside of queues.',
    ),
    ...FEEDBACK_SCORES,
    svc_user_id: z
      .null('must not be set, the server fills it in')
      .optional()
      .meta({
        description: 'Must be absent or null: the server stores the user of the key.',
        // Client generators do not understand the type null alone.
        type: ['string', 'null'],
        enum: [null],
      }),
  })
  .meta({ id: 'FeedbackCreateRequest', description: 'Feedback on an object.' })
export type FeedbackCreateRequest = z.infer<typeof FeedbackCreateRequest>

const anyRef = AnyRef.nullish()

/**
 * Feedback from clients that send other refs than the spec's table has.
 *
 * Spec: §2.2 weave_ref, runnable_ref. Choice: the tracing SDKs give feedback about calls, by objects that score; any
 * well-formed ref of theirs is accepted.
 */
export const LooseFeedbackCreateRequest = FeedbackCreateRequest.extend({
  svc_user_id: z
    .unknown()
    .optional()
    .transform(() => null)
    .describe('Ignored: the stored user is that of the key.'),
  weave_ref: AnyRef,
  annotation_ref: anyRef,
  runnable_ref: anyRef,
  call_ref: anyRef,
  trigger_ref: anyRef,
})

/** Spec: §2.3. */
export const FeedbackCreateResponse = z
  .object({
    id: z.string().describe('Id of the feedback.'),
    created_at: Time.describe('When it was stored, UTC.'),
    svc_user_id: z.string().describe('User whose key stored it.'),
    payload: FreeObject.describe('The content as stored.'),
  })
  .meta({ id: 'FeedbackCreateResponse', description: 'Stored feedback.' })
export type FeedbackCreateResponse = z.infer<typeof FeedbackCreateResponse>

/** Spec: §4.2, §8. */
export const FeedbackPayloadSchemaRequest = z
  .strictObject({
    ...FeedbackWindowFields,
    sample_limit: z
      .int()
      .min(1)
      .max(SAMPLE_LIMIT_MAX)
      .optional()
      .meta({ default: SAMPLE_LIMIT_DEFAULT })
      .describe(
        `Number of distinct trigger_refs to sample, newest first. Default ${SAMPLE_LIMIT_DEFAULT}.`,
      ),
  })
  .meta({ id: 'FeedbackPayloadSchemaRequest', description: 'A time window of feedback.' })
export type FeedbackPayloadSchemaRequest = z.infer<typeof FeedbackPayloadSchemaRequest>

/** Spec: §2.4 value_type. Choice: the three types that Weave knows. */
export const VALUE_TYPES = ['numeric', 'boolean', 'categorical'] as const
export type ValueType = (typeof VALUE_TYPES)[number]

/** Spec: §2.4. */
export const FeedbackPayloadPath = z
  .object({
    json_path: z
      .string()
      .describe(
        'Dotted path of a leaf; other keys are quoted, elements are `[*]`: `a["b-c"][*].d`.',
      ),
    value_type: z
      .enum(VALUE_TYPES)
      .describe(
        '`numeric` or `boolean` when all values other than null are; otherwise `categorical`.',
      ),
  })
  .meta({ id: 'FeedbackPayloadPath', description: 'A leaf of the payloads.' })
export type FeedbackPayloadPath = z.infer<typeof FeedbackPayloadPath>

/** Spec: §4.2. */
export const FeedbackPayloadSchemaResponse = z.object({
  paths: z.array(FeedbackPayloadPath).describe('The distinct leaf paths, sorted.'),
})
