/** The filter over calls. Spec: §2.7. */
import { z } from 'zod'

/** Limit: entries of one list. */
const FILTER_ENTRIES_MAX = 1000
const ENTRY_LENGTH_MAX = 2048

function listOf(description: string) {
  return z
    .array(z.string().max(ENTRY_LENGTH_MAX))
    .max(FILTER_ENTRIES_MAX)
    .nullish()
    .describe(`${description} An empty list is no filter.`)
}

const OR_VERSIONS = 'or, ending in `:*`, all versions'

/**
 * Filter of calls: a call must match every field, and any entry of a list.
 *
 * Spec: §2.7. Choice: null and an empty list are no filter; names and refs also match by `:*`.
 */
export const CallsFilter = z
  .strictObject({
    op_names: listOf(`Operations, exactly, ${OR_VERSIONS}.`),
    input_refs: listOf(`Refs found in the inputs, exactly, ${OR_VERSIONS}.`),
    output_refs: listOf(`Refs found in the output, exactly, ${OR_VERSIONS}.`),
    parent_ids: listOf('Ids of calling calls.'),
    trace_ids: listOf('Traces.'),
    call_ids: listOf('Ids of the calls themselves.'),
    thread_ids: listOf('Conversations.'),
    turn_ids: listOf('Turns of conversations.'),
    trace_roots_only: z
      .boolean()
      .nullish()
      .describe(
        'Only calls without a parent among the stored ones: also those whose parent has not come.',
      ),
    svc_user_ids: listOf('Users whose keys started the calls.'),
    svc_run_ids: listOf('Training runs.'),
    end_user_ids: listOf('End users for whom the calls were made; an addition.'),
  })
  .meta({ id: 'CallsFilter', description: 'Filter of calls; all of its fields must match.' })
export type CallsFilter = z.infer<typeof CallsFilter>
