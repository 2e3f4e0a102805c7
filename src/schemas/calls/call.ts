/** Calls on the wire: started, ended, read. Spec: §2.5, §2.6, §4.5, §4.6. */

import { z } from 'zod'
import {
  ClientId,
  FreeObject,
  IgnoredUser,
  nameOf,
  ProjectId,
  SafeInteger,
  switchField,
  Time,
  Timestamp,
} from '../primitives.ts'

const OP_NAME_MAX = 1024
const DISPLAY_NAME_MAX = 1024
const RUN_ID_MAX = 256

const opName = nameOf(OP_NAME_MAX).describe('Operation: a plain name or an op ref.')

/** Input of `/call/start`. Spec: §2.6. */
export const StartedCallSchemaForInsert = z
  .strictObject({
    project_id: ProjectId,
    id: ClientId.nullish().describe('Id chosen by the client; a new UUIDv7 when absent.'),
    op_name: opName,
    display_name: nameOf(DISPLAY_NAME_MAX).nullish().describe('Name shown instead of op_name.'),
    trace_id: ClientId.nullish().describe('Trace that the call belongs to; a new one when absent.'),
    parent_id: ClientId.nullish().describe('Id of the calling call, which may arrive later.'),
    thread_id: ClientId.nullish().describe('Conversation that the call belongs to.'),
    turn_id: ClientId.nullish().describe('Turn of the conversation that the call belongs to.'),
    started_at: Timestamp.describe('When it began, to the microsecond; no offset means UTC.'),
    attributes: FreeObject.describe('Arbitrary metadata.'),
    inputs: FreeObject.describe('Arguments of the operation.'),
    otel_dump: FreeObject.nullish().describe(
      'The OpenTelemetry span that the call was built from; returned as attributes.otel_span, or as attributes.otel_dump where the attributes have that.',
    ),
    svc_user_id: IgnoredUser,
    svc_run_id: nameOf(RUN_ID_MAX).nullish().describe('Training run that made the call.'),
    svc_run_step: SafeInteger.nullish().describe('Step of the run at the start.'),
  })
  .meta({ id: 'StartedCallSchemaForInsert', description: 'A call that has begun.' })
export type StartedCallSchemaForInsert = z.infer<typeof StartedCallSchemaForInsert>

/** Spec: §4.6. */
export const CallStartRequest = z
  .strictObject({
    start: StartedCallSchemaForInsert.describe('The call that has begun.'),
  })
  .meta({ id: 'CallStartRequest', description: 'The start of a call.' })

/** Spec: §4.6. */
export const CallStartResponse = z
  .object({
    id: z.string().describe('Id of the call.'),
    trace_id: z.string().describe('Trace of the call.'),
  })
  .meta({ id: 'CallStartResponse', description: 'Ids of a started call.' })

/**
 * Input of `/call/end`, an addition.
 *
 * Spec: §3 (ended_at, exception exist, no move is given). Choice: the end is a request of its own.
 */
export const EndedCallSchemaForInsert = z
  .strictObject({
    project_id: ProjectId,
    id: ClientId.describe('Id of the call; its start may arrive later.'),
    ended_at: Timestamp.describe('When it ended, to the microsecond; no offset means UTC.'),
    output: z.unknown().optional().describe('Result of the operation; any JSON value.'),
    exception: z.string().nullish().describe('Text of the error; null when there was none.'),
    summary: FreeObject.nullish().describe('Totals; `usage` maps a model to its tokens.'),
    svc_run_step_end: SafeInteger.nullish().describe('Step of the run at the end.'),
  })
  .meta({ id: 'EndedCallSchemaForInsert', description: 'A call that has ended.' })
export type EndedCallSchemaForInsert = z.infer<typeof EndedCallSchemaForInsert>

/** Addition to the spec, see EndedCallSchemaForInsert. */
export const CallEndRequest = z
  .strictObject({
    end: EndedCallSchemaForInsert.describe('The call that has ended.'),
  })
  .meta({ id: 'CallEndRequest', description: 'The end of a call.' })

/** Spec: §4.5. */
export const CallReadRequest = z
  .strictObject({
    project_id: ProjectId,
    id: ClientId.describe('Id of the call.'),
    include_costs: switchField('Whether to fill summary.weave.costs and summary.weave.total_cost.'),
    include_tree_usage: switchField(
      'Whether to fill summary.weave.tree_usage, tree_total_tokens and tree_total_cost: what the call used together with its descendants in its trace, each token once, and tree_error_count: how many of these failed. In traces of more than 100,000 calls at most tree_error_count is filled. A call that ended without an error above a failed one then has the status descendant_error.',
    ),
    include_storage_size: switchField('Whether to fill storage_size_bytes.'),
    include_total_storage_size: switchField('Whether to fill total_storage_size_bytes.'),
  })
  .meta({ id: 'CallReadRequest', description: 'Which call, and which optional fields to fill.' })

/** A call as it is read. Spec: §2.5. */
export const CallSchema = z
  .object({
    id: z.string().describe('Id of the call.'),
    project_id: z.string().describe('Project, `<entity>/<project>`.'),
    op_name: z.string().describe('Operation: a plain name or an op ref.'),
    display_name: z.string().nullable().describe('Name shown instead of op_name.'),
    trace_id: z.string().describe('Trace that the call belongs to.'),
    parent_id: z.string().nullable().describe('Id of the calling call.'),
    thread_id: z.string().nullable().describe('Conversation that the call belongs to.'),
    turn_id: z.string().nullable().describe('Turn of the conversation.'),
    started_at: Time.describe('When it began, UTC.'),
    ended_at: Time.nullable().describe('When it ended, UTC; null while it runs.'),
    exception: z.string().nullable().describe('Text of the error, if any.'),
    attributes: FreeObject.describe('Arbitrary metadata.'),
    inputs: FreeObject.describe('Arguments of the operation.'),
    output: z.unknown().describe('Result of the operation; any JSON value.'),
    summary: FreeObject.describe(
      'Totals of the client; `weave` holds status, latency_ms, names and costs, and in `usage_counted_in` the call that reports the same request and counts in its place.',
    ),
    svc_user_id: z.string().nullable().describe('User whose key started the call.'),
    svc_username: z.string().nullable().describe('Name of that user.'),
    end_user_id: z
      .string()
      .nullable()
      .describe(
        'End user for whom the call was made, as attributes or the request name them; an addition.',
      ),
    svc_run_id: z.string().nullable().describe('Training run that made the call.'),
    svc_run_step: z.int().nullable().describe('Step of the run at the start.'),
    svc_run_step_end: z.int().nullable().describe('Step of the run at the end.'),
    deleted_at: Time.nullable().describe('When it was deleted; always null on a read.'),
    storage_size_bytes: z
      .int()
      .nullable()
      .describe(
        'Bytes of attributes, inputs, otel_dump, output and summary as JSON; null unless requested.',
      ),
    total_storage_size_bytes: z
      .int()
      .nullable()
      .describe('storage_size_bytes summed over the trace; null unless requested.'),
  })
  .meta({ id: 'CallSchema', description: 'A recorded call.' })
export type CallSchema = z.infer<typeof CallSchema>

/** Spec: §4.5. */
export const CallReadResponse = z
  .object({ call: CallSchema.describe('The call.') })
  .meta({ id: 'CallReadResponse', description: 'The requested call.' })

/** Response of routes for which a missing call is not an error. */
export const LooseCallReadResponse = z.object({ call: CallSchema.nullable() })
