/** Batches, updates and deletions of calls on the wire. Additions to the spec, with its field names. */
import { z } from 'zod'
import { BatchItemError, RefusedItem } from '../batch-item-error.ts'
import { describeJson } from '../bounded-fields.ts'
import { ClientId, IgnoredUser, nameOf, ProjectId } from '../primitives.ts'
import {
  CallEndRequest,
  CallStartRequest,
  EndedCallSchemaForInsert,
  StartedCallSchemaForInsert,
} from './call.ts'

/** Limit: items of one batch. */
const BATCH_ITEMS_MAX = 10_000
/** Limit: ids of one deletion. */
const DELETED_IDS_MAX = 1000
const DISPLAY_NAME_MAX = 1024

/** One part of a call in a batch. */
export const CallBatchItem = z
  .discriminatedUnion('mode', [
    z.strictObject({
      mode: z.literal('start').describe('A call that has begun.'),
      req: CallStartRequest.describe('Like the body of /call/start.'),
    }),
    z.strictObject({
      mode: z.literal('end').describe('A call that has ended.'),
      req: CallEndRequest.describe('Like the body of /call/end.'),
    }),
  ])
  .meta({ id: 'CallBatchItem', description: 'The start or the end of a call.' })

const { id: _start, trace_id: _trace, ...startFields } = StartedCallSchemaForInsert.shape
const { project_id: _project, id: _end, ...endFields } = EndedCallSchemaForInsert.shape

/** Start and end of a call at once. */
export const CompletedCallSchemaForInsert = z
  .strictObject({
    ...startFields,
    ...endFields,
    id: ClientId.describe('Id of the call.'),
    trace_id: ClientId.describe('Trace that the call belongs to.'),
  })
  .meta({ id: 'CompletedCallSchemaForInsert', description: 'A call that has begun and ended.' })
export type CompletedCallSchemaForInsert = z.infer<typeof CompletedCallSchemaForInsert>

/** Returns the schema of a batch. Items are parsed one by one, so that a bad item fails alone. */
function batchOf(items: string, item: z.ZodType) {
  return z.strictObject({
    batch: z
      .array(z.unknown().describe(`A ${items}.`))
      .max(BATCH_ITEMS_MAX, `must have at most ${BATCH_ITEMS_MAX} items`)
      .meta({
        description: `Each a ${items}; at most ${BATCH_ITEMS_MAX}. An invalid item fails alone.`,
        items: describeJson(item),
      }),
  })
}

export const CallUpsertBatchRequest = batchOf('CallBatchItem', CallBatchItem)
export const CallsCompleteRequest = batchOf(
  'CompletedCallSchemaForInsert',
  CompletedCallSchemaForInsert,
)

/** The result of each item. */
export const CallBatchResponse = z
  .object({
    res: z
      .array(
        z.union([
          z.object({
            id: z.string().describe('Id of the started call.'),
            trace_id: z.string().describe('Trace of the started call.'),
          }),
          RefusedItem,
          z.object({}),
        ]),
      )
      .describe('In the order of the batch: the ids of a start, {} for an end, or an error.'),
    errors: z.array(BatchItemError).describe('The items that were not stored.'),
  })
  .meta({ id: 'CallBatchResponse', description: 'The result of each item of a batch.' })
export type CallBatchResponse = z.infer<typeof CallBatchResponse>

export const CallUpdateRequest = z.strictObject({
  project_id: ProjectId,
  call_id: ClientId.describe('Id of the call; its start may arrive later.'),
  display_name: z
    .union([z.literal(''), nameOf(DISPLAY_NAME_MAX)])
    .nullish()
    .describe('The new name; empty or null removes the name.'),
  svc_user_id: IgnoredUser,
})

export const CallsDeleteRequest = z.strictObject({
  project_id: ProjectId,
  call_ids: z
    .array(ClientId)
    .max(DELETED_IDS_MAX)
    .describe('Calls to delete, with all of their descendants.'),
  svc_user_id: IgnoredUser,
})

export const CallsDeleteResponse = z.object({
  num_deleted: z.int().describe('Number of deleted calls, including descendants.'),
})
