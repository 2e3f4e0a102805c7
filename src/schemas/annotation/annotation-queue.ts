/**
 * Annotation queues on the wire: lists of calls or spans that wait for people's judgement.
 *
 * Spec: §2.2 queue_id (queues are an addition). Choice: the routes and fields of the public tracing clients.
 */

import { z } from 'zod'
import { QUEUES_LIMIT_MAX } from '../limits.ts'
import {
  AnyRef,
  ClientId,
  FreeObject,
  IgnoredUser,
  nameOf,
  ProjectId,
  Time,
  Total,
} from '../primitives.ts'
import { pageFields } from '../query/page-query.ts'
import { orderOf } from '../query/query-expression.ts'
import { QueueRules } from './queue-rules.ts'

const NAME_MAX = 256
const DESCRIPTION_MAX = 65_536
/** Limit: scorers of a queue; queues of one request for statistics. */
const SCORERS_MAX = 100
const QUEUES_MAX = 1000
const QueueType = z.enum(['call', 'span'])
export type QueueType = z.infer<typeof QueueType>
const Name = nameOf(NAME_MAX)
const Description = z
  .string()
  .max(DESCRIPTION_MAX)
  .regex(/^[^\p{Cs}]*$/u, 'must not contain half characters')
  .meta({ pattern: undefined })
const ScorerRefs = z.array(AnyRef).max(SCORERS_MAX)

export const AnnotationQueueCreateRequest = z.strictObject({
  project_id: ProjectId,
  name: Name.describe('Name of the queue; need not be unique.'),
  description: Description.nullish().describe('Instructions for annotators. Default empty.'),
  scorer_refs: ScorerRefs.describe('Refs of the annotation specs that annotators fill in.'),
  queue_type: QueueType.nullish().describe(
    'What the queue holds: calls, or only those that were received as spans. Default: call.',
  ),
  rules: QueueRules.nullish().describe(
    'What adds calls by itself, of a queue of calls; an addition. Default: nothing.',
  ),
  svc_user_id: IgnoredUser,
})

export const AnnotationQueueCreateResponse = z.object({ id: z.string().describe('Its id.') })

export const AnnotationQueueUpdateRequest = z.strictObject({
  project_id: ProjectId,
  name: Name.nullish().describe('The new name; null keeps the old one.'),
  description: Description.nullish().describe('The new description; null keeps the old one.'),
  scorer_refs: ScorerRefs.nullish().describe(
    'The new refs, which replace all old ones; null keeps those.',
  ),
  rules: QueueRules.nullish().describe(
    'The new rules, an addition; null keeps the old ones, an object without a rule removes them.',
  ),
})

export const AnnotationQueuePath = z.object({
  queue_id: ClientId.describe('Id of the queue.'),
})

export const AnnotationQueueSchema = z
  .object({
    id: z.string().describe('Id of the queue.'),
    project_id: z.string().describe('Project, `<entity>/<project>`.'),
    name: z.string().describe('Its name.'),
    description: z.string().describe('Instructions for annotators.'),
    scorer_refs: z
      .array(z.string())
      .describe('Refs of the annotation specs that annotators fill in.'),
    queue_type: QueueType.describe('What it holds.'),
    rules: FreeObject.nullable().describe(
      'What adds calls by itself: QueueRules as in requests; null: nothing.',
    ),
    created_at: Time.describe('When it was created, UTC.'),
    created_by: z.string().describe('User whose key created it.'),
    updated_at: Time.describe('When it was last changed, UTC.'),
    deleted_at: Time.nullable().describe(
      'When it was deleted; null except in the answer to its deletion.',
    ),
  })
  .meta({ id: 'AnnotationQueueSchema', description: 'A queue of calls or spans to annotate.' })
export type AnnotationQueueSchema = z.infer<typeof AnnotationQueueSchema>

export const AnnotationQueueResponse = z.object({
  queue: AnnotationQueueSchema.describe('The queue.'),
})

export const AnnotationQueueReadResponse = AnnotationQueueResponse.extend({
  rules_work: z
    .object({
      added: Total.describe('Calls that they have added.'),
      dropped: Total.describe('Calls that they left out, as a limit was reached.'),
      waiting: Total.describe('Calls that are checked next, or have not ended.'),
    })
    .describe('What its rules have done; an addition.'),
})

const QUEUE_SORT_FIELDS = ['created_at', 'updated_at', 'name'] as const

export const AnnotationQueuesQueryRequest = z.strictObject({
  project_id: ProjectId,
  name: z
    .string()
    .max(NAME_MAX)
    .nullish()
    .describe('Only queues whose name contains this, ignoring case.'),
  sort_by: orderOf(QUEUE_SORT_FIELDS).describe('Order. Default: newest first.'),
  ...pageFields('queues', QUEUES_LIMIT_MAX),
})
export type AnnotationQueuesQueryRequest = z.infer<typeof AnnotationQueuesQueryRequest>

export const AnnotationQueuesStatsRequest = z.strictObject({
  project_id: ProjectId,
  queue_ids: z
    .array(ClientId)
    .max(QUEUES_MAX)
    .describe('Ids of queues; an unknown one counts as empty.'),
})

export const AnnotationQueuesStatsResponse = z.object({
  stats: z
    .array(
      z.object({
        queue_id: z.string().describe('Id of the queue.'),
        total_items: z.int().describe('Items of the queue.'),
        completed_items: z.int().describe('Items that have been completed or skipped.'),
      }),
    )
    .describe('In the order of the request.'),
})
